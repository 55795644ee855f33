import { expect, test } from 'vitest'
import type { Drawing, DrawnLink, DrawnNode } from './drawing.ts'
import { outlineOf } from './outline.ts'
import { type Layout, labelSize, type Point, type Size } from './size.ts'
import { bestFor, isCut } from './viewport.ts'

const node = (id: string): DrawnNode => ({
  id,
  agent: id,
  kind: id === 'START' ? 'start' : id === 'END' ? 'end' : 'step',
})
const link = (from: string, to: string, ...keys: string[]): DrawnLink => ({
  id: `${from}->${to}`,
  from,
  to,
  forth: ['x'],
  back: [],
  keys,
  repeated: true,
})
const called = ['burn_analyst', 'trail_assessor', 'timber_cruiser', 'nepa_advisor', 'END']
/** An agent that calls four others: the shape of the recovery agents. */
const team: Drawing = {
  nodes: ['START', 'coordinator', ...called].map(node),
  links: [
    link('START', 'coordinator'),
    ...called.map((id) => link('coordinator', id, 'incident', `${id.slice(0, 6)}_findings`)),
  ],
}
const overlap = (a: Point & Size, b: Point & Size): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

test('an agent that calls others is an outline that fits a narrow panel, and nothing overlaps', () => {
  const made = outlineOf(team) as Layout
  expect(made.width).toBeLessThan(460)
  const boxes = [
    ...made.nodes.values(),
    ...team.links.map((each) => {
      const { x, y } = made.links.get(each.id)?.label ?? { x: -1, y: -1 }
      const { width, height } = labelSize(each)
      return { x: x - width / 2, y: y - height / 2, width, height }
    }),
  ]
  for (const [i, a] of boxes.entries()) {
    expect(a.x >= 0 && a.y >= 0 && a.x + a.width <= made.width && a.y + a.height <= made.height).toBe(true)
    for (const b of boxes.slice(i + 1)) expect(overlap(a, b)).toBe(false)
  }
  for (const { id, to } of team.links) {
    const end = made.links.get(id)?.points.at(-1) ?? { x: -1, y: Number.POSITIVE_INFINITY }
    const { x, y, height } = made.nodes.get(to) as Point & Size
    expect(end.x === x || end.y === y).toBe(true)
    expect(end.y).toBeLessThanOrEqual(y + height)
  }
})

test('a loop, a node with two ways to it and an open box are no outline', () => {
  const two: Drawing = { nodes: ['a', 'b'].map(node), links: [link('a', 'b'), link('b', 'a')] }
  const joined: Drawing = { nodes: ['a', 'b', 'c'].map(node), links: [link('a', 'c'), link('b', 'c')] }
  const self: Drawing = { nodes: ['a'].map(node), links: [link('a', 'a')] }
  const box: Drawing = { nodes: [{ ...node('a'), box: 'open' }], links: [] }
  for (const each of [two, joined, self, box]) expect(outlineOf(each)).toBeUndefined()
})

test('the layout that is shown larger in the room is taken, and the first if all fit', () => {
  const empty = { nodes: new Map(), links: new Map() }
  const [wide, tall] = [
    { ...empty, width: 700, height: 300 },
    { ...empty, width: 400, height: 500 },
  ]
  expect(bestFor([wide, tall], { width: 490, height: 560 })).toBe(tall)
  expect(bestFor([wide, tall], { width: 1400, height: 560 })).toBe(wide)
  expect(bestFor([wide, tall], { width: 1400, height: 310 })).toBe(wide)
})

test('a graph is cut where more than its empty border is outside', () => {
  const layout = { nodes: new Map(), links: new Map(), width: 400, height: 500 }
  const room = { width: 390, height: 560 }
  expect(isCut(layout, room, { x: 0, y: 30, zoom: 1 })).toBe(false)
  expect(isCut(layout, room, { x: 14, y: 30, zoom: 1 })).toBe(true)
  expect(isCut(layout, room, { x: -20, y: 30, zoom: 1 })).toBe(true)
})
