import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AdkEvent } from './adk-event.ts'
import { adkIngest, type Ingested } from './ingest.ts'

const base = { id: 'e1', author: 'a', invocationId: 'i', timestamp: 1_767_081_391_059 }
const text = (words: string) => ({ content: { role: 'model', parts: [{ text: words }] } })

function eventOf(ingested: Ingested): AdkEvent {
  if ('reason' in ingested) throw new Error(ingested.reason)
  return ingested.event
}
const read = (raw: unknown): AdkEvent => eventOf(adkIngest()(raw))
const reasonOf = (raw: unknown): string | undefined => {
  const ingested = adkIngest()(raw)
  return 'reason' in ingested ? ingested.reason : undefined
}

test('SPEC 1.1: fields that Millrace does not know are kept as they came, at every level', () => {
  const unknown = { novel_field: { snake_inside: [null, 1] } }
  const raw = {
    ...base,
    ...unknown,
    content: { role: 'model', parts: [{ text: 'x', ...unknown }], ...unknown },
    actions: { ...unknown },
  }
  expect(read(structuredClone(raw))).toEqual(raw)
})

describe('SPEC 1.2: normalised once', () => {
  test.each([
    ['milliseconds stay', 1_767_081_391_059, 1_767_081_391_059],
    ['seconds become milliseconds', 1_767_081_391, 1_767_081_391_000],
    [
      'microseconds of Python are kept, without the noise of the multiplication',
      1_767_081_391.004_012,
      1_767_081_391_004.012,
    ],
    ['1973 in milliseconds', 1e11, 1e11],
    ['just under it, the year 5138 in seconds', 99_999_999_999, 99_999_999_999_000],
    ['zero', 0, 0],
  ])('timestamp: %s', (_, timestamp, expected) => {
    expect(read({ ...base, timestamp }).timestamp).toBe(expected)
  })
  test('an event that is canonical already is not copied, and one that is not is not changed', () => {
    const canonical = { ...base, ...text('x'), partial: true, longRunningToolIds: [], actions: { stateDelta: {} } }
    expect(read(canonical)).toBe(canonical)
    const seconds = Object.freeze({ ...base, timestamp: 1_767_081_391 })
    expect(read(seconds)).toEqual({ ...base, timestamp: 1_767_081_391_000 })
    const snake = Object.freeze({ ...base, invocation_id: 'i', invocationId: undefined })
    expect(read(snake)).toEqual(base)
  })
  test('a mutable event is completed in place', () => {
    const raw = { ...base, timestamp: 1_767_081_391 }
    expect(eventOf(adkIngest({ mutable: true })(raw))).toBe(raw)
    expect(raw.timestamp).toBe(1_767_081_391_000)
  })
  test('with both spellings there, camelCase counts and the other is kept', () => {
    expect(read({ ...base, finish_reason: 'A', finishReason: 'B' })).toMatchObject({
      finish_reason: 'A',
      finishReason: 'B',
    })
    expect(read({ ...base, finish_reason: 'A', finishReason: null })).toEqual({ ...base, finishReason: 'A' })
  })
  test('a key named __proto__ is data, at every level', () => {
    const raw = JSON.parse(
      '{"id":"1","author":"a","invocation_id":"i","timestamp":1,"__proto__":{"x":1},"content":{"parts":[{"text":null,"__proto__":{"y":1}}]},"actions":{"state_delta":{"__proto__":{"z":1}}}}',
    )
    const event = read(raw)
    expect(Object.keys(event)).toContain('__proto__')
    expect(JSON.stringify(event)).toContain('"parts":[{"__proto__":{"y":1}}]')
    expect(JSON.stringify(event.actions)).toBe('{"stateDelta":{"__proto__":{"z":1}}}')
    expect(Object.getPrototypeOf(event)).toBe(Object.prototype)
  })
  test('absent fields are filled in: an id per event, the author of the run', () => {
    const ingest = adkIngest({ prefix: 'run7', author: 'root' })
    const first = eventOf(ingest(text('x')))
    expect(first).toEqual({ ...text('x'), id: 'run7-1', author: 'root', invocationId: '', timestamp: 0 })
    expect(eventOf(ingest({ ...text('y'), id: '' })).id).toBe('run7-2')
  })
  test('undefined, as live ADK events have it, is absent', () => {
    expect(JSON.stringify(read({ ...base, branch: undefined, content: undefined }))).toBe(JSON.stringify(base))
  })
})

describe('a value that is no ADK event gives the reason', () => {
  test.each<[unknown, string]>([
    [null, 'event must be an object'],
    [[], 'event must be an object'],
    ['x', 'event must be an object'],
    [{ hello: 1 }, 'not an ADK event: no author, content, actions or error'],
    [{ ...base, partial: 'yes' }, 'event.partial must be true or false'],
    [
      { ...base, content: { parts: [{ text: 'a' }, { function_call: { args: [] } }] } },
      'event.content.parts[1].function_call.args must be an object',
    ],
    [
      { ...base, usage_metadata: { prompt_token_count: 'many' } },
      'event.usage_metadata.prompt_token_count must be a finite number',
    ],
    [{ ...base, actions: { artifactDelta: { a: 'one' } } }, 'event.actions.artifactDelta.a must be a finite number'],
    [{ ...base, longRunningToolIds: [1] }, 'event.longRunningToolIds[0] must be a string'],
    [{ ...base, timestamp: Number.POSITIVE_INFINITY }, 'event.timestamp must be a finite number'],
  ])('%j: %s', (raw, reason) => {
    expect(reasonOf(raw)).toBe(reason)
  })
})

describe('SPEC 1.4: one id for every part of a message', () => {
  test('the messages that stream at once are bounded: the oldest is forgotten', () => {
    const ingest = adkIngest()
    const message = (raw: object): string => {
      const ingested = ingest(raw)
      return 'reason' in ingested ? ingested.reason : ingested.message
    }
    message({ ...base, id: 'first', branch: 'b', ...text('x'), partial: true })
    for (let i = 0; i < 999; i++) message({ ...base, id: `p${i}`, branch: `b${i}`, ...text('x'), partial: true })
    expect(message({ ...base, id: 'second', branch: 'b', ...text('y'), partial: true })).toBe('first')
    message({ ...base, id: 'p999', branch: 'b999', ...text('x'), partial: true })
    expect(message({ ...base, id: 'third', branch: 'b', ...text('z'), partial: true })).toBe('third')
    expect(message({ ...base, id: 'last', branch: 'b999', ...text('x') })).toBe('p999')
  })
  test('the turn id of newer Python versions keeps turns apart', () => {
    const ingest = adkIngest()
    const messages = [
      { ...base, id: '1', turn_id: 't1', ...text('a'), partial: true },
      { ...base, id: '2', turn_id: 't2', ...text('a'), partial: true },
      { ...base, id: '3', turn_id: 't2', ...text('ab') },
    ].map((raw) => Object.entries(ingest(raw)).find(([key]) => key === 'message')?.[1])
    expect(messages).toEqual(['1', '2', '2'])
  })
  test('parallel agents never mix, in whatever order their events come', () => {
    const message = fc.record({
      deltas: fc.array(fc.string({ minLength: 1 }), { maxLength: 4 }),
      aggregate: fc.boolean(),
    })
    const lanes = fc.array(fc.array(message, { maxLength: 4 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(lanes, fc.infiniteStream(fc.nat()), (plan, order) => {
        const queues = plan.map((messages, lane) => laneEvents(lane, messages))
        const ingest = adkIngest()
        const found = new Map<string, Set<string>>()
        while (queues.some((queue) => queue.length > 0)) {
          const open = queues.filter((queue) => queue.length > 0)
          const next = open[(order.next().value ?? 0) % open.length]?.shift()
          const ingested = ingest(next?.raw)
          if (next === undefined || 'reason' in ingested) throw new Error('not ingested')
          found.set(next.of, (found.get(next.of) ?? new Set()).add(ingested.message))
        }
        const ids = [...found.values()]
        for (const set of ids) expect(set.size).toBe(1)
        expect(new Set(ids.flatMap((set) => [...set])).size).toBe(ids.length)
      }),
      { numRuns: 300 },
    )
  })
})

/** The events of one agent's messages, each tagged with the message it belongs to. One without aggregate ends in an error. */
function laneEvents(
  lane: number,
  messages: readonly { deltas: readonly string[]; aggregate: boolean }[],
): { of: string; raw: object }[] {
  let count = 0
  return messages.flatMap(({ deltas, aggregate }, i) => {
    const of = `${lane}/${i}`
    const said = { author: lane % 2 === 0 ? 'even' : 'odd', branch: `b${lane}`, invocationId: 'i', timestamp: 1 }
    const id = (): string => `${lane}-${count++}`
    const partials: { of: string; raw: object }[] = deltas.map((delta) => ({
      of,
      raw: { ...said, id: id(), ...text(delta), partial: true },
    }))
    if (aggregate) return [...partials, { of, raw: { ...said, id: id(), ...text(deltas.join('') || 'x') } }]
    return [...partials, { of: `${of} error`, raw: { ...said, id: id(), errorCode: 'E' } }]
  })
}
