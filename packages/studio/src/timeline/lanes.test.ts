import { expect, test } from 'vitest'
import { criticalKeys } from './critical.ts'
import { layOut } from './lanes.ts'
import type { Span } from './spans.ts'
import { ticks } from './ticks.ts'

const execution = (node: string, startSeq: number, endSeq?: number): Span => ({
  key: node,
  kind: 'agent',
  path: node.split('@')[0] ?? node,
  agent: node.split('@')[0]?.split('/').at(-1) ?? node,
  name: node,
  run: 'r',
  word: endSeq === undefined ? 'running' : 'done',
  startSeq,
  startedAt: 0,
  ...(endSeq === undefined ? {} : { endSeq }),
})

test('lanes are below the lane that contains them, in the order of their starts', () => {
  const { lanes } = layOut([execution('a@1', 1, 9), execution('b@1', 2, 3), execution('a/c@1', 4, 5)])
  expect(lanes.map(({ path, depth, top }) => [path, depth, top])).toEqual([
    ['a', 0, 0],
    ['a/c', 1, 1],
    ['b', 0, 2],
  ])
})

test('executions of one lane share a row unless they overlap', () => {
  const { bars, rows } = layOut([
    execution('a@1', 1, 4),
    execution('a@2', 2, 6),
    execution('a@3', 4, 5),
    execution('b@1', 7),
  ])
  expect(bars.map(({ span: { key }, row }) => [key, row])).toEqual([
    ['a@1', 0],
    ['a@2', 1],
    ['a@3', 0],
    ['b@1', 2],
  ])
  expect(rows).toBe(3)
})

test.each([
  [1000, 1100, [100, 200, 300, 400, 500, 600, 700, 800, 900]],
  [9, 400, [5]],
  [0, 0, []],
])('%d ms on %d px has round ticks', (total, width, expected) => {
  const made = ticks([{ place: 0, real: 0, length: total }], total, width)
  expect(made.map(({ real }) => real)).toEqual(expected)
})

test('after a break, the axis goes on with the time that has really passed', () => {
  const parts = [
    { place: 0, real: 0, length: 400 },
    { place: 500, real: 60_000, length: 500 },
  ]
  expect(ticks(parts, 1000, 1100).map(({ place, real }) => [place, real])).toEqual([
    [100, 100],
    [200, 200],
    [300, 300],
    [600, 60_100],
    [700, 60_200],
    [800, 60_300],
    [900, 60_400],
  ])
})

test('the critical path leads from the end of a run back through what ended last', () => {
  const run: Span = { ...execution('run@1', 1, 20), kind: 'run', path: 'run' }
  const spans = [
    run,
    execution('a@1', 2, 19),
    execution('a/fast@1', 3, 6),
    execution('a/slow@1', 4, 9),
    execution('a/last@1', 10, 15),
  ]
  expect([...criticalKeys(spans)].sort()).toEqual(['a/last@1', 'a/slow@1', 'a@1'])
})
