import { expect, test } from 'vitest'
import type { Draft, Recorded, RunInput } from '../../event/run-event.ts'
import { encodeAll, recorded } from '../../testing/index.ts'
import type { SentMessage } from '../dialect.ts'
import { agUi } from './index.ts'
import { toRunAgentInput } from './request.ts'

// Adapters of other engines end a run with MESSAGES_SNAPSHOT: the whole conversation, in their own words and ids.

const start = { type: 'RUN_STARTED', threadId: 't', runId: 'r' }
const end = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
const called = [
  { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'look', parentMessageId: 'a1' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{}' },
  { type: 'TOOL_CALL_END', toolCallId: 'c1' },
]
const result = { type: 'TOOL_CALL_RESULT', messageId: 'made-up', toolCallId: 'c1', content: 'blue', role: 'tool' }
const answer = [
  { type: 'TEXT_MESSAGE_START', messageId: 'a2', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a2', delta: 'It is blue.' },
  { type: 'TEXT_MESSAGE_END', messageId: 'a2' },
]
const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
const retold = [
  { id: 'u1', role: 'user', content: 'What colour?' },
  { id: 'a1', role: 'assistant', content: '', toolCalls: [call] },
  { id: 'of-the-graph', role: 'tool', content: 'blue', toolCallId: 'c1' },
  { id: 'a2', role: 'assistant', content: 'It is blue.', toolCalls: [] },
]
const asked = retold.slice(0, 1)
const snapshot = (messages: readonly object[]) => ({ type: 'MESSAGES_SNAPSHOT', messages })

function decoded(sent: readonly SentMessage[], ...wire: readonly object[]): readonly Draft[] {
  const decoder = agUi.decoder({ run: 'r', sent })
  return wire.flatMap((data) => decoder.push({ data: JSON.stringify(data) }))
}
const whole = (drafts: readonly Draft[]): readonly string[] =>
  drafts.flatMap(({ event }) => (event.kind === 'agent' && event.event.partial !== true ? [event.message] : []))
const gone = (drafts: readonly Draft[]): readonly string[] =>
  drafts.flatMap(({ event }) => (event.kind === 'superseded' ? event.messages : []))

const run = [start, ...called, result, ...answer]

test('what was said and what was sent is no news, in whatever words and under whatever id of a result', () => {
  const drafts = decoded(asked, ...run, snapshot(retold), end)
  expect(whole(drafts)).toEqual(['a1', 'made-up', 'a2'])
  expect(gone(drafts)).toEqual([])
})

test('a result of an earlier run is known by its call', () => {
  const earlier = retold.map((message) => (message.role === 'tool' ? { ...message, id: 'made-up' } : message))
  const drafts = decoded(earlier, start, snapshot(retold), end)
  expect(whole(drafts)).toEqual([])
  const tool = retold.filter(({ role }) => role === 'tool')
  expect(drafts.find(({ event }) => event.kind === 'log')?.event).toMatchObject({ extra: { 'ag-ui': { same: tool } } })
})

test('the frame is printed again as it came', () => {
  const all = [{ ...start, input: { threadId: 't', runId: 'r', messages: retold.slice(0, 1) } }, ...run.slice(1)]
  const wire = [...all, snapshot(retold), end]
  const printed = encodeAll(agUi, recorded(decoded([], ...wire))).map(({ data }) => JSON.parse(data))
  expect(printed.find(({ type }) => type === 'MESSAGES_SNAPSHOT')).toEqual(snapshot(retold))
})

test('what comes back changed under the id of what was sent is news', () => {
  const other = [{ id: 'u1', role: 'assistant', content: 'I count from one again.' }]
  expect(whole(decoded(asked, start, snapshot(other), end))).toEqual(['u1'])
})

test('a result, a text and calls that are others than before are news', () => {
  const other = retold.map((message) => (message.role === 'tool' ? { ...message, content: 'red' } : message))
  const drafts = decoded(asked, ...run, snapshot(other), end)
  expect(gone(drafts)).toEqual(['made-up'])
  expect(whole(drafts)).toEqual(['a1', 'made-up', 'a2', 'of-the-graph'])
  const cut = decoded(asked, ...run, snapshot(retold.with(1, { ...retold[1], content: 'Wait.' } as never)), end)
  expect(gone(cut)).toEqual(['a1', 'c1'])
})

test('a result that is gone after it was known under another id is gone in the log', () => {
  const without = retold.filter(({ role }) => role !== 'tool')
  const drafts = decoded(asked, ...run, snapshot(retold), snapshot(without), end)
  expect(gone(drafts)).toEqual(['made-up'])
})

test('the next request has the ids of the other server, and results right after their calls', () => {
  const history = recorded(decoded(asked, ...run, snapshot(retold), end)).map(
    (row): Recorded =>
      row.event.kind === 'run.started'
        ? {
            ...row,
            event: {
              ...row.event,
              input: {
                messages: [{ id: 'u1', role: 'user', content: { role: 'user', parts: [{ text: 'What colour?' }] } }],
              },
            },
          }
        : row,
  )
  const messages: RunInput['messages'] = [
    { id: 'u2', role: 'user', content: { role: 'user', parts: [{ text: 'And now?' }] } },
  ]
  const request = toRunAgentInput({ threadId: 't', runId: 'r2', input: { messages }, history })
  expect(request.messages.map(({ id }) => id)).toEqual(['u1', 'a1', 'of-the-graph', 'a2', 'u2'])
})
