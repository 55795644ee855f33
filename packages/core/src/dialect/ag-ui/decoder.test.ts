import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { official } from '../../../../../test/kit/ag-ui-official.ts'
import { loadVectors } from '../../../../../test/kit/vectors.ts'
import { whyNotRunEvent } from '../../event/guard.ts'
import type { Draft } from '../../event/run-event.ts'
import { encodeAll, recorded } from '../../testing/index.ts'
import { agUi } from './index.ts'

const start = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const end = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
function decoded(...wire: readonly (object | string)[]): readonly Draft[] {
  const decoder = agUi.decoder({ run: 'r0' })
  return wire.flatMap((data) => decoder.push({ data: typeof data === 'string' ? data : JSON.stringify(data) }))
}
const kinds = (drafts: readonly Draft[]) => drafts.map(({ event }) => event.kind)

const vectors = loadVectors('ag-ui')
const known = vectors.flatMap((vector) => vector.wire)

describe('any input', () => {
  test('SPEC 1.6: every event is one that the log accepts', () => {
    for (const { drafts } of vectors) {
      for (const { event } of drafts) expect(whyNotRunEvent(event)).toBeUndefined()
    }
  })
  test('SPEC 1.6, 3.1: also when frames come in any order, with fields of any kind', () => {
    const field = fc.constantFrom(
      'messageId',
      'delta',
      'toolCallId',
      'content',
      'metadata',
      'timestamp',
      'subagentRunId',
    )
    const spoilt = fc
      .tuple(fc.constantFrom(...known), field, fc.jsonValue({ maxDepth: 2 }))
      .map(([{ data }, key, value]) => {
        try {
          return { data: JSON.stringify({ ...JSON.parse(data), [key]: value }) }
        } catch {
          return { data }
        }
      })
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constantFrom(...known), spoilt), { maxLength: 40 }), (frames) => {
        const decoder = agUi.decoder({ run: 'r0' })
        const drafts = [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end('cut')]
        for (const { event } of drafts) expect(whyNotRunEvent(event)).toBeUndefined()
      }),
      { numRuns: 150 },
    )
  })
  test('printed again, it is accepted by the official client', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...known), { maxLength: 30 }), async (frames) => {
        const decoder = agUi.decoder({ run: 'r0' })
        const drafts = frames.flatMap((frame) => decoder.push(frame))
        await official(encodeAll(agUi, recorded(drafts)), true)
      }),
      { numRuns: 40 },
    )
  })
  test('names that every object has, such as toString, are no event types', () => {
    for (const type of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
      expect(decoded({ type })).toMatchObject([{ event: { kind: 'foreign', reason: `unknown event ${type}` } }])
    }
  })
  test('a key named __proto__ is data', () => {
    const drafts = decoded(
      start,
      '{"type":"STATE_SNAPSHOT","snapshot":{"__proto__":{"polluted":1}},"__proto__":{"type":"x"}}',
    )
    expect(kinds(drafts)).toEqual(['run.started', 'state'])
    expect('polluted' in {}).toBe(false)
  })
  test('JSON that nests too deeply is kept as text', () => {
    const raw = `{"type":"CUSTOM","name":"x","value":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    expect(decoded(start, raw)[1]?.event).toEqual({
      kind: 'foreign',
      dialect: 'ag-ui',
      raw,
      reason: 'nested deeper than 512',
    })
  })
  test('a text of 10 MB is read whole', () => {
    const delta = 'x'.repeat(10_000_000)
    const drafts = decoded(
      start,
      { type: 'TEXT_MESSAGE_START', messageId: 'm' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
    )
    expect(drafts.at(-1)?.event).toMatchObject({ event: { content: { parts: [{ text: delta }] } } })
  })
})

describe('ids', () => {
  test('the session and the run are those that the wire names', () => {
    const decoder = agUi.decoder({ run: 'r0', agent: 'coordinator' })
    expect(decoder.session).toBeUndefined()
    const [draft] = decoder.push({ data: JSON.stringify(start) })
    expect(decoder.session).toBe('t')
    expect(draft).toMatchObject({ run: 'r', event: { kind: 'run.started', agent: 'coordinator' } })
  })
  test('results have the name of their call, in whichever run it was made', () => {
    const call = [
      { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'paint' },
      { type: 'TOOL_CALL_END', toolCallId: 'c' },
    ]
    const input = { threadId: 't', runId: 'r2', messages: [{ id: 'x', role: 'tool', content: 'ok', toolCallId: 'c' }] }
    const [again] = decoded(start, ...call, end, { ...start, runId: 'r2', input }).slice(-1)
    expect(again?.event).toMatchObject({
      input: { messages: [{ content: { parts: [{ functionResponse: { name: 'paint' } }] } }] },
    })
  })
  test('events of one message have ids of their own', () => {
    const said = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' }
    const drafts = decoded(start, { type: 'TEXT_MESSAGE_START', messageId: 'm' }, said, said, {
      type: 'TEXT_MESSAGE_END',
      messageId: 'm',
    })
    const ids = drafts.flatMap(({ event }) => (event.kind === 'agent' ? [event.event.id] : []))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.at(-1)).toBe('m')
  })
})

describe('the end of the bytes', () => {
  const open = [start, { type: 'TEXT_MESSAGE_START', messageId: 'm' }] as const
  const ended = (how: 'closed' | 'cut', ...wire: readonly object[]) => {
    const decoder = agUi.decoder({ run: 'r0' })
    for (const event of wire) decoder.push({ data: JSON.stringify(event) })
    return kinds(decoder.end(how))
  }
  test('SPEC 3.6: does not end a run, but a cut is a failure', () => {
    expect(ended('closed', ...open)).toEqual([])
    expect(ended('cut', ...open)).toEqual(['run.finished'])
    expect(ended('cut', start, end)).toEqual([])
    expect(ended('cut')).toEqual([])
  })
  test('closes what chunks and spans left open', () => {
    expect(ended('closed', start, { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm', delta: 'x' })).toEqual(['agent'])
    expect(ended('closed', start, { type: 'REASONING_START', messageId: 's' })).toEqual(['log'])
  })
})

test('SPEC 1.4: the fast path for tokens gives the same events as the general path', () => {
  const quick = decoded(
    start,
    { type: 'TEXT_MESSAGE_START', messageId: 'm' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' },
  )
  const slow = decoded(
    start,
    { type: 'TEXT_MESSAGE_START', messageId: 'm' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x', subagentRunId: null },
  )
  expect(quick).toEqual(slow)
})
