import type { Execution } from '@millrace/core'
import { Dictionary, Sequence } from '@millrace/core/persistent'
import { expect, test } from 'vitest'
import { layOut } from './lanes.ts'
import { ticks } from './ticks.ts'

const execution = (node: string, startSeq: number, endSeq?: number): Execution => ({
  key: node,
  run: 'r',
  node,
  path: node.split('@')[0] ?? node,
  agent: node.split('@')[0]?.split('/').at(-1) ?? node,
  after: [],
  via: 'start',
  status: endSeq === undefined ? 'running' : 'ok',
  startSeq,
  startedAt: 0,
  ...(endSeq === undefined ? {} : { endSeq }),
  input: {},
  wrote: Sequence.empty,
  known: Dictionary.empty,
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
  expect(bars.map(({ execution: { node }, row }) => [node, row])).toEqual([
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
  expect(ticks(total, width)).toEqual(expected)
})
