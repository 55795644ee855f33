import { agUi, fold, itemsOf, type Recorded, type RunEvent, timelineView, transcriptView } from '@millrace/core'
import { expect, test } from 'vitest'

const user = (id: string, text: string) => ({ id, role: 'user', content: { role: 'user', parts: [{ text }] } }) as const
const start = (message: ReturnType<typeof user>, more: object = {}): RunEvent => ({
  kind: 'run.started',
  agent: 'a',
  input: { messages: [message] },
  ...more,
})
const says = (message: string, text: string): RunEvent => ({
  kind: 'agent',
  message,
  node: 'a@1',
  event: { id: message, author: 'a', invocationId: 'i', timestamp: 1, content: { role: 'model', parts: [{ text }] } },
})
const end: RunEvent = { kind: 'run.finished', outcome: 'done' }
const began: RunEvent = { kind: 'node.started', node: 'a@1', agent: 'a' }
const ended: RunEvent = { kind: 'node.finished', node: 'a@1', status: 'ok' }

/** A question and its answer, then the same question again in the place of the first run. */
const rows: readonly Recorded[] = [
  ['r1', start(user('u1', 'Hi'))],
  ['r1', began],
  ['r1', says('m1', 'First')],
  ['r1', ended],
  ['r1', end],
  ['r2', start(user('u1', 'Hi'), { replaces: [{ run: 'r1', messages: ['m1'], nodes: ['a@1'] }] })],
  ['r2', began],
  ['r2', says('m2', 'Second')],
  ['r2', ended],
  ['r2', end],
].map(([run, event], i) => ({ seq: i + 1, at: i, run, event }) as Recorded)

test('SPEC 4.7: the messages of a replaced run do not count in the transcript, and its question is there once', () => {
  const messages = itemsOf(fold(transcriptView, rows)).flatMap((item) =>
    item.kind === 'message' ? [[item.text, item.superseded === true]] : [],
  )
  expect(messages).toEqual([
    ['Hi', false],
    ['First', true],
    ['Second', false],
  ])
})

test('SPEC 4.7: the nodes of a replaced run do not count in the timeline', () => {
  const { executions } = fold(timelineView, rows)
  expect(executions.toArray().map(({ run, superseded }) => [run, superseded === true])).toEqual([
    ['r1', true],
    ['r2', false],
  ])
})

test('SPEC 4.7: an AG-UI client is told by a snapshot, right after the run has started', () => {
  const encoder = agUi.encoder({ session: 's' })
  const frames = rows.map((row) => encoder.push(row).map(({ data }) => JSON.parse(data)))
  expect(frames[5]).toMatchObject([
    { type: 'RUN_STARTED', runId: 'r2' },
    { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'u1', role: 'user', content: 'Hi' }] },
  ])
})
