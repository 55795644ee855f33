import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../event/run-event.ts'
import { adk } from './index.ts'

/** What the encoder prints for the row by its text alone, and what it prints for the parsed row. */
function both(event: RunEvent, at = 5) {
  const body = JSON.stringify(event)
  const row = { seq: 1, at, run: 'r' }
  return {
    raw: adk.encoder({ session: 's' }).pushRaw?.({ ...row, kind: 'partial', body }),
    parsed: adk.encoder({ session: 's' }).push({ ...row, event: JSON.parse(body) }),
  }
}

const said = (more: object = {}, beside: object = {}): RunEvent =>
  ({
    kind: 'agent',
    event: {
      id: 'e1',
      invocationId: 'i',
      author: 'a',
      content: { role: 'model', parts: [{ text: 'it says "timestamp":1, },"message":" and more' }] },
      actions: { stateDelta: {} },
      longRunningToolIds: [],
      timestamp: 1_700_000_000_123.456,
      partial: true,
      ...more,
    },
    message: 'm "quoted" \\',
    node: 'a/b@1',
    ...beside,
  }) as RunEvent

describe('the text of a partial', () => {
  test('SPEC 3.5: is printed from the stored text as from the parsed row', () => {
    const { raw, parsed } = both(said())
    expect(raw).toEqual(parsed)
    expect(raw).toBeDefined()
    expect(both(said({}, { node: undefined })).raw).toEqual(both(said({}, { node: undefined })).parsed)
  })

  test.each([
    [
      'another field of the same name',
      { content: { parts: [{ functionCall: { name: 'f', args: { timestamp: 7 } } }] } },
      {},
    ],
    ['an error', { errorMessage: 'x' }, {}],
    ['a call that waits', { longRunningToolIds: ['c'] }, {}],
    ['no time', { timestamp: 0 }, {}],
    ['no invocation', { invocationId: '' }, {}],
    ['something beside the event', {}, { extra: { adk: { message: 'x' } } }],
    ['a task', {}, { task: 't' }],
  ])('with %s is left to the parser', (_, more, beside) => {
    expect(both(said(more, beside)).raw).toBeUndefined()
  })

  test('whatever its fields are, the two agree where the text is enough', () => {
    const key = fc.constantFrom('timestamp', 'message', 'node', 'event', 'a', '"', '},"message":"', '__proto__')
    const value = fc.oneof(fc.string(), fc.dictionary(key, fc.oneof(fc.string(), fc.dictionary(key, fc.integer()))))
    const beside = fc.record({ node: fc.string(), message: fc.string() }, { requiredKeys: ['message'] })
    fc.assert(
      fc.property(fc.dictionary(key, value), beside, fc.double({ min: 1, max: 2e12 }), (more, own, timestamp) => {
        const { raw, parsed } = both(said({ ...more, timestamp, author: 'a' }, own))
        if (raw !== undefined) expect(raw).toEqual(parsed)
      }),
    )
  })
})
