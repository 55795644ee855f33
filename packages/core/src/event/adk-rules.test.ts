import { describe, expect, test } from 'vitest'
import type { AdkEvent, AdkPart } from './adk-event.ts'
import { functionCallsOf, functionResponsesOf, isErrorEvent, isFinalResponse } from './adk-rules.ts'

const event = (fields: Partial<AdkEvent>, ...parts: AdkPart[]): AdkEvent => ({
  id: 'e',
  author: 'a',
  invocationId: 'i',
  timestamp: 1,
  ...(parts.length === 0 ? {} : { content: { parts } }),
  ...fields,
})
const call = { functionCall: { id: 'c', name: 'f', args: {} } }
const response = { functionResponse: { id: 'c', name: 'f', response: {} } }

describe("ADK's own rule of a final response", () => {
  test.each<[string, boolean, AdkEvent]>([
    ['text', true, event({}, { text: 'x' })],
    ['text, with [] for no long-running tool', true, event({ longRunningToolIds: [] }, { text: 'x' })],
    ['a partial', false, event({ partial: true }, { text: 'x' })],
    ['a call', false, event({}, { text: 'x' }, call)],
    ['a response', false, event({}, response)],
    ['a long-running call', true, event({ longRunningToolIds: ['c'] }, call)],
    ['a response that is not summed up', true, event({ actions: { skipSummarization: true } }, response)],
    ['a response that asks for credentials', true, event({ actions: { requestedAuthConfigs: { c: {} } } }, response)],
    ['a response with empty actions', false, event({ actions: { requestedAuthConfigs: {} } }, response)],
    ['code that ran last', false, event({}, { text: 'x' }, { codeExecutionResult: { outcome: 'OUTCOME_OK' } })],
    ['code that ran before the text', true, event({}, { codeExecutionResult: {} }, { text: 'x' })],
    ['no content at all', true, event({})],
  ])('%s: %j', (_, final, sample) => {
    expect(isFinalResponse(sample)).toBe(final)
  })
})

test('SPEC 1.5: a partial makes no calls', () => {
  expect(functionCallsOf(event({}, { text: 'x' }, call))).toEqual([call.functionCall])
  expect(functionCallsOf(event({ partial: true }, call))).toEqual([])
  expect(functionCallsOf(event({}))).toEqual([])
  expect(functionResponsesOf(event({}, response))).toEqual([response.functionResponse])
  expect(functionResponsesOf(event({ partial: true }, response))).toEqual([])
  expect(functionResponsesOf(event({}))).toEqual([])
})

test('an error event', () => {
  expect(isErrorEvent(event({ errorCode: 'E' }))).toBe(true)
  expect(isErrorEvent(event({ errorMessage: 'm' }))).toBe(true)
  expect(isErrorEvent(event({}))).toBe(false)
})
