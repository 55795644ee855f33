import { expect, test } from 'vitest'
import { addUsage, usageOf } from './usage.ts'

test('a report becomes usage, and what is no count stays absent', () => {
  const reported = { promptTokenCount: 7, candidatesTokenCount: 3, thoughtsTokenCount: 2, totalTokenCount: 12 }
  expect(usageOf(reported)).toEqual({ inputTokens: 7, outputTokens: 3, reasoningTokens: 2, totalTokens: 12 })
  expect(usageOf({ promptTokenCount: -1, totalTokenCount: 1.5 })).toBeUndefined()
  expect(usageOf({})).toBeUndefined()
  expect(usageOf(undefined)).toBeUndefined()
})

test('a total that the model left out is added up', () => {
  expect(usageOf({ promptTokenCount: 7, candidatesTokenCount: 3, thoughtsTokenCount: 2 })?.totalTokens).toBe(12)
  expect(usageOf({ thoughtsTokenCount: 2 })).toEqual({ reasoningTokens: 2 })
})

test('usage adds up field by field, and takes off what it replaces', () => {
  const sum = addUsage({ inputTokens: 5, modelCalls: 1 }, { inputTokens: 8, outputTokens: 2 }, { inputTokens: 5 })
  expect(sum).toEqual({ inputTokens: 8, outputTokens: 2, modelCalls: 1 })
})
