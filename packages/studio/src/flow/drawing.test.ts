import { flowView, fold, type Recorded, type RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { drawingOf } from './drawing.ts'

const rows = (...events: readonly RunEvent[]): readonly Recorded[] =>
  events.map((event, i) => ({ seq: i + 1, at: i, run: 'r', event }))

/** A step with a graph of its own inside: `draft`, then `check`. */
const nested = fold(
  flowView,
  rows(
    { kind: 'run.started', agent: 'writer', input: { messages: [] } },
    { kind: 'node.started', node: 'write', agent: 'write' },
    { kind: 'node.started', node: 'write/draft', agent: 'draft', parent: 'write' },
    { kind: 'node.finished', node: 'write/draft', status: 'ok' },
    { kind: 'node.started', node: 'write/check', agent: 'check', parent: 'write' },
    { kind: 'node.finished', node: 'write/check', status: 'ok' },
    { kind: 'node.finished', node: 'write', status: 'ok' },
    { kind: 'run.finished', outcome: 'done' },
  ),
)
const ids = ({ nodes }: ReturnType<typeof drawingOf>): readonly string[] => nodes.map(({ id }) => id).sort()
const ways = ({ links }: ReturnType<typeof drawingOf>): readonly string[] =>
  links.map(({ from, to }) => `${from} ${to}`).sort()

test('a step with a graph inside is one closed box, and its lines are those of the box', () => {
  const closed = drawingOf(nested, undefined)
  expect(ids(closed)).toEqual(['END', 'START', 'write'])
  expect(closed.nodes.find(({ id }) => id === 'write')?.box).toBe('closed')
  expect(ways(closed)).toEqual(['START write', 'write END'])
})

test('an open box contains its steps, and no line leads from its border to them', () => {
  const open = drawingOf(nested, undefined, new Set(['write']))
  expect(ids(open)).toEqual(['END', 'START', 'write', 'write/check', 'write/draft'])
  expect(open.nodes.find(({ id }) => id === 'write/draft')?.parent).toBe('write')
  expect(ways(open)).toEqual(['START write', 'write END', 'write/draft write/check'])
})

test('a graph that the agent describes is a box before it has run', () => {
  const plan = {
    nodes: [
      { id: 'write', kind: 'step' },
      { id: 'write/draft', kind: 'step', parent: 'write' },
    ],
    edges: [{ from: 'write', to: 'write/draft' }],
  }
  const nothing = fold(flowView, [])
  expect(ids(drawingOf(nothing, plan))).toEqual(['write'])
  expect(ids(drawingOf(nothing, plan, new Set(['write'])))).toEqual(['write', 'write/draft'])
})

test('an agent that calls others is no box', () => {
  const called = fold(
    flowView,
    rows(
      { kind: 'run.started', agent: 'lead', input: { messages: [] } },
      { kind: 'node.started', node: 'lead', agent: 'lead' },
      { kind: 'node.started', node: 'lead/one', agent: 'one', parent: 'lead', call: 'c1' },
      { kind: 'node.finished', node: 'lead/one', status: 'ok' },
      { kind: 'node.started', node: 'lead/two', agent: 'two', parent: 'lead', call: 'c2' },
      { kind: 'node.finished', node: 'lead/two', status: 'ok' },
      { kind: 'node.finished', node: 'lead', status: 'ok' },
      { kind: 'run.finished', outcome: 'done' },
    ),
  )
  expect(drawingOf(called, undefined).nodes.every(({ box }) => box === undefined)).toBe(true)
})
