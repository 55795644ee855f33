import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FormedRow } from '../../event/formed-row.ts'
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

  test('SPEC 3.5: with a form that others share, is printed as from the parsed row', () => {
    const encoder = adk.encoder({ session: 's' })
    const parsing = adk.encoder({ session: 's' })
    const forms = ['m "quoted" \\', 'n'].map((message) => ({
      head: '{"kind":"agent","event":{"invocationId":"i","author":"a","longRunningToolIds":[],"timestamp":',
      tail: `},${JSON.stringify({ message, node: 'a@1' }).slice(1)}`,
    }))
    const texts = ['one', 'it says "timestamp":1, },"message":" and "errorCode":"x"', '\u{1f30a}']
    for (const form of forms)
      for (const time of ['1700000000123.456', '1700000000124'])
        for (const [i, text] of texts.entries()) {
          const own = `${time},"id":"e${i}","content":{"parts":[{"text":${JSON.stringify(text)}}]},"partial":true`
          const body = form.head + own + form.tail
          const raw = encoder.pushRaw?.(new FormedRow(i + 1, 5, 'r', body, form, own))
          expect(raw).toEqual(parsing.push({ seq: i + 1, at: 5, run: 'r', event: JSON.parse(body) }))
        }
  })

  test.each([
    ['no time', {}, '0'],
    ['no invocation', { invocationId: '' }, '7'],
    ['an error', { errorCode: 'x' }, '7'],
    ['a field of the same name before', { customMetadata: { timestamp: 3 } }, '7'],
  ])('with a form that has %s is left to the parser', (_, more, time) => {
    const event = JSON.stringify({ invocationId: 'i', author: 'a', ...more })
    const form = { head: `{"kind":"agent","event":${event.slice(0, -1)},"timestamp":`, tail: '},"message":"m"}' }
    const own = `${time},"id":"e","partial":true`
    const row = new FormedRow(1, 5, 'r', form.head + own + form.tail, form, own)
    expect(adk.encoder({ session: 's' }).pushRaw?.(row)).toBeUndefined()
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
