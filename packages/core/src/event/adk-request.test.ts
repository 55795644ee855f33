import { describe, expect, test } from 'vitest'
import type { AdkEvent, AdkFunctionCall, AdkPart } from './adk-event.ts'
import { pendingCalls, requestOf } from './adk-request.ts'

const event = (ids: readonly string[], ...parts: AdkPart[]): AdkEvent => ({
  id: 'e',
  author: 'a',
  invocationId: 'i',
  timestamp: 1,
  longRunningToolIds: ids,
  content: { parts },
})
const call = (name: string, args: AdkFunctionCall['args'] = {}, id = 'c'): AdkPart => ({
  functionCall: { id, name, args },
})
const asked = (part: AdkPart) => {
  const pending = pendingCalls()
  pending.push(event(['c'], part))
  return pending.interrupts()[0]
}

describe('the question of a waiting call', () => {
  const schema = { type: 'object', properties: { confirmed: { type: 'boolean' } }, required: ['confirmed'] }
  test('a confirmation, with what it is about', () => {
    expect(
      asked(
        call('adk_request_confirmation', {
          originalFunctionCall: { id: 'd', name: 'rm', args: {} },
          toolConfirmation: { hint: 'Sure?', confirmed: false },
        }),
      ),
    ).toEqual({
      kind: 'interrupt',
      id: 'c',
      call: 'd',
      reason: 'confirmation',
      message: 'Sure?',
      payload: { tool: 'rm', args: {} },
      schema,
    })
    expect(asked(call('adk_request_confirmation', { toolConfirmation: { hint: '' } }))).toEqual({
      kind: 'interrupt',
      id: 'c',
      call: 'c',
      reason: 'confirmation',
      schema,
    })
  })
  test('input, in both spellings of its arguments', () => {
    const expected = { kind: 'interrupt', id: 'c', call: 'c', reason: 'input_required', message: 'Which?' }
    expect(
      asked(call('adk_request_input', { message: 'Which?', response_schema: { type: 'string' }, payload: null })),
    ).toEqual({
      ...expected,
      schema: { type: 'string' },
    })
    expect(asked(call('adk_request_input', { prompt: 'Which?', responseSchema: 'no schema', payload: 7 }))).toEqual({
      ...expected,
      payload: 7,
    })
  })
  test('a credential, without repeating the configuration', () => {
    expect(asked(call('adk_request_credential', { authConfig: { secret: 'x' } }))).toEqual({
      kind: 'interrupt',
      id: 'c',
      call: 'c',
      reason: 'credential',
    })
  })
  test('a tool that a person or another system finishes', () => {
    expect(asked(call('approve', { amount: 7 }))).toMatchObject({
      reason: 'tool_call',
      payload: { tool: 'approve', args: { amount: 7 } },
    })
  })
})

describe('the calls that wait', () => {
  test('long-running calls until their response; not other calls, not partials', () => {
    const pending = pendingCalls()
    pending.push(event([], call('a', {}, '1')))
    pending.push({ ...event(['2'], call('b', {}, '2')), partial: true })
    pending.push(event(['3', '4'], call('c', {}, '3'), call('d', {}, '4'), call('e', {}, '5')))
    expect(pending.interrupts().map(({ id }) => id)).toEqual(['3', '4'])
    pending.push(
      event([], { functionResponse: { id: '3', name: 'c', response: {} } }, { functionResponse: { name: 'x' } }),
    )
    expect(pending.interrupts().map(({ id }) => id)).toEqual(['4'])
  })
  test('a response that is not the last leaves the call waiting, in its node', () => {
    const pending = pendingCalls()
    const answer = (status: string) => event([], { functionResponse: { id: '1', name: 'a', response: { status } } })
    pending.push(event(['1'], call('a', {}, '1')), 'root@1')
    pending.push(answer('pending'))
    expect(pending.interrupts()).toMatchObject([{ id: '1', node: 'root@1' }])
    pending.push(answer('approved'))
    expect(pending.interrupts()).toEqual([])
  })
})

test("another engine's interrupt becomes what ADK's RequestInput writes", () => {
  expect(
    requestOf({ kind: 'interrupt', id: 'q', reason: 'input_required', message: 'Which?', schema: {}, payload: 1 }),
  ).toEqual({
    id: 'q',
    name: 'adk_request_input',
    args: { interruptId: 'q', message: 'Which?', payload: 1, response_schema: {} },
  })
  expect(requestOf({ kind: 'interrupt', id: 'q', reason: 'x' }).args).toEqual({
    interruptId: 'q',
    message: null,
    payload: null,
    response_schema: null,
  })
})
