import { expect, test } from 'vitest'
import type { Recorded, RunEvent } from '../../event/run-event.ts'
import type { Json } from '../../json/json.ts'
import { agUiDecoder } from './decoder.ts'
import { AgUiDocument } from './document.ts'
import { agUiEncoder } from './encoder.ts'
import type { AgUiEvent, AgUiMessage } from './wire.ts'

/** A text of which four fit into the limit. */
const text = 'x'.repeat(1000)
const history = 6000
const turns = 100
const ids = Array.from({ length: turns }, (_, i) => `m${i}`)

const frame = (event: AgUiEvent) => ({ data: JSON.stringify(event) })
const message = (id: string): readonly AgUiEvent[] => [
  { type: 'TOOL_CALL_START', toolCallId: `c-${id}`, toolCallName: 'search' },
  { type: 'TOOL_CALL_END', toolCallId: `c-${id}` },
  { type: 'TOOL_CALL_RESULT', messageId: `r-${id}`, toolCallId: `c-${id}`, content: 'found' },
  { type: 'TEXT_MESSAGE_START', messageId: id, role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta: text },
  { type: 'TEXT_MESSAGE_END', messageId: id },
]
const wire = (id: string): AgUiMessage => ({ id, role: 'assistant', content: text })

function decoded(history?: number) {
  const decoder = agUiDecoder({ run: 'r', ...(history === undefined ? {} : { history }) })
  const push = (event: AgUiEvent) => decoder.push(frame(event)).map((draft) => draft.event)
  push({ type: 'RUN_STARTED', threadId: 's', runId: 'r1' })
  for (const id of ids) for (const event of message(id)) push(event)
  return push
}
const saidIn = (events: readonly RunEvent[]) => events.flatMap((event) => (event.kind === 'agent' ? event.message : []))

test('a document forgets its oldest messages, but not open ones, and holds the others', () => {
  const document = new AgUiDocument(history)
  let most = 0
  for (const id of ids) {
    for (const event of message(id)) document.apply(event)
    most = Math.max(most, document.messages.length)
    if (document.full) document.forget(({ id: own }) => own === 'm3')
  }
  expect(most).toBeLessThan(24)
  expect(document.message('m3')).toBeDefined()
  expect(document.message('m4')).toBeUndefined()
  expect(document.call('c-m4')).toBeUndefined()
  expect(document.message(`m${turns - 1}`)?.content).toBe(text)
  expect(document.forgotten).toBeGreaterThan(turns)
})

test('a document without a limit forgets nothing', () => {
  const document = new AgUiDocument()
  for (const id of ids) for (const event of message(id)) document.apply(event)
  expect(document.full).toBe(false)
  expect(document.messages).toHaveLength(3 * turns)
})

test('the history that a request or a snapshot repeats is not taken for new messages, forgotten or not', () => {
  const all: Json = ids.map(wire)
  const more: Json = [...ids.map(wire), { id: 'new', role: 'user', content: 'and now?' }]
  for (const limit of [undefined, history]) {
    const push = decoded(limit)
    push({ type: 'RUN_FINISHED', threadId: 's', runId: 'r1' })
    const input = { threadId: 's', runId: 'r2', messages: more }
    const [started] = push({ type: 'RUN_STARTED', threadId: 's', runId: 'r2', input })
    expect(started?.kind === 'run.started' && started.input.messages.map(({ id }) => id)).toEqual(['new'])
    expect(saidIn(push({ type: 'MESSAGES_SNAPSHOT', messages: all }))).toEqual([])
  }
})

test('a message that comes again after it was forgotten is a message like any other', () => {
  const push = decoded(history)
  expect(saidIn(message('m0').flatMap(push)).at(-1)).toBe('m0')
  expect(saidIn(message(`m${turns - 1}`).flatMap(push)).at(-1)).not.toBe(`m${turns - 1}`)
})

function rowsOf(events: readonly RunEvent[]): readonly Recorded[] {
  return events.map((event, i) => ({ seq: i + 1, at: 1, run: 'r', event }))
}
const said = (id: string, partial: boolean, words = text): RunEvent => ({
  kind: 'agent',
  message: id,
  event: {
    id: partial ? `${id}~` : id,
    author: 'a',
    invocationId: 'r',
    timestamp: 1,
    content: { role: 'model', parts: [{ text: words }] },
    ...(partial ? { partial } : {}),
  },
})
const answers = ids.flatMap((id) => [said(id, true), said(id, false)])
const started: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [] } }

test('an encoder with a limit prints the same, and of a snapshot says how much it lacks', () => {
  const corrected = [said('last', true, 'one'), said('last', false, 'two')]
  const rows = rowsOf([started, ...answers, ...corrected, { kind: 'run.finished', outcome: 'done' }])
  const [whole, bounded] = [undefined, history].map((limit) => {
    const encoder = agUiEncoder({ session: 's', ...(limit === undefined ? {} : { history: limit }) })
    const events = rows.flatMap((row) => encoder.push(row)).map(({ data }) => JSON.parse(data) as AgUiEvent)
    return { events, held: encoder.messages.length }
  })
  const others = (events: readonly AgUiEvent[] = []) =>
    events.filter(({ type }) => type !== 'MESSAGES_SNAPSHOT' && type !== 'CUSTOM')
  expect(others(bounded?.events)).toEqual(others(whole?.events))
  expect([whole?.held, (bounded?.held ?? turns) < 12]).toEqual([turns + 1, true])
  const [custom] = bounded?.events.filter(({ type }) => type === 'CUSTOM') ?? []
  expect(custom).toMatchObject({
    name: 'millrace.log',
    value: { level: 'warn', message: expect.stringMatching(/lacks the first 9\d messages/) },
  })
  expect(whole?.events.some(({ type }) => type === 'CUSTOM')).toBe(false)
})

test('runs that ended long ago are forgotten too', () => {
  const encoder = agUiEncoder({ session: 's', history })
  const push = (run: string, event: RunEvent) => encoder.push({ seq: 1, at: 1, run, event })
  for (let i = 0; i < 3000; i++) {
    push(`r${i}`, started)
    push(`r${i}`, said(`m${i}`, false))
    push(`r${i}`, { kind: 'run.finished', outcome: 'done' })
  }
  const log: RunEvent = { kind: 'log', level: 'info', message: 'late' }
  expect(push('r2999', log)).toEqual([])
  expect(push('r0', log)[0]?.data).toContain('RUN_STARTED')
})
