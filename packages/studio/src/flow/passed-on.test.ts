import type { FlowEdge, FlowKey } from '@millrace/core'
import { expect, test } from 'vitest'
import { changedOn } from './passed-on.ts'

const key = (name: string, value: FlowKey['value'], seq: number): FlowKey => ({ key: name, value, seq })
const edge = (from: string, to: string, keys: readonly FlowKey[]): FlowEdge => ({
  id: `${from}->${to}`,
  from,
  to,
  kinds: ['sequence'],
  count: 1,
  keys,
  lastSeq: 1,
})
const names = (keys: readonly FlowKey[]): readonly string[] => keys.map((each) => each.key)

test('a key that only passes through a step is not shown after it', () => {
  const first = edge('a', 'b', [key('plan', { steps: 2 }, 1)])
  const second = edge('b', 'c', [key('plan', { steps: 2 }, 2), key('draft', 'one', 2)])
  expect(names(changedOn(first, [first, second]))).toEqual(['plan'])
  expect(names(changedOn(second, [first, second]))).toEqual(['draft'])
})

test('a key that the step changed is shown again', () => {
  const first = edge('a', 'b', [key('plan', { steps: 2 }, 1)])
  const second = edge('b', 'c', [key('plan', { steps: 3 }, 2)])
  expect(names(changedOn(second, [first, second]))).toEqual(['plan'])
})

test('what came to the step later was not passed on by it', () => {
  const call = edge('a', 'b', [key('topic', 'fire', 1)])
  const answer = edge('b', 'a', [key('topic', 'fire', 5)])
  expect(names(changedOn(call, [call, answer]))).toEqual(['topic'])
  expect(names(changedOn(answer, [call, answer]))).toEqual([])
})
