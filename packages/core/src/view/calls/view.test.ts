import { describe, expect, test } from 'vitest'
import { loadViewVectors } from '../../../../../test/kit/vectors.ts'
import type { AdkPart } from '../../event/adk-event.ts'
import type { SentRequest } from '../../event/call-record.ts'
import type { Recorded, RunEvent } from '../../event/run-event.ts'
import { describeView } from '../../testing/index.ts'
import { fold } from '../view.ts'
import { callBefore, callsView, modelAnswersOf, modelRequestOf } from './index.ts'

const vectors = loadViewVectors('calls')
describeView({ describe, expect, test }, callsView, vectors)

const rowsOf = (events: readonly RunEvent[], run = 'r1'): readonly Recorded[] =>
  events.map((event, i) => ({ seq: i + 1, at: 100 + i, run, event }))
const asked = (call: string, request?: SentRequest, node?: string): RunEvent => ({
  kind: 'model.started',
  call,
  agent: 'a',
  model: 'm',
  tools: 0,
  ...(request === undefined ? {} : { request }),
  ...(node === undefined ? {} : { node }),
})
const said = (message: string, text: string): RunEvent => ({
  kind: 'agent',
  message,
  event: { id: message, author: 'a', invocationId: 'r1', timestamp: 1, content: { role: 'model', parts: [{ text }] } },
})
const words = (text: string) => ({ role: 'model', parts: [{ text }] })

test('SPEC 1.10: a request is put together from what the log has', () => {
  const rows = vectors.find(({ name }) => name === 'two-model-calls-and-a-tool')?.rows ?? []
  const calls = fold(callsView, rows)
  const question = { role: 'user', parts: [{ text: 'How is the fire?' }] }
  const told = { system: 'Be brief.', tools: [{ name: 'look' }] }
  expect(modelRequestOf(calls, 'r1/c1')).toEqual({ ...told, contents: [question] })
  // ADK sends the ids that it made itself to no model.
  expect(modelRequestOf(calls, 'r1/c2')).toEqual({
    ...told,
    contents: [
      question,
      { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'look', response: { size: 3 } } }] },
    ],
  })
  const [first, , second] = calls.calls.toArray()
  if (first === undefined || second === undefined) throw new Error('there are two model calls')
  expect(modelAnswersOf(calls, second)).toEqual([words('Small.')])
  expect(callBefore(calls, second)?.key).toBe('r1/c1')
  expect(callBefore(calls, first)).toBeUndefined()
})

test('a request says what it was when it was sent, also after its messages were said anew', () => {
  const calls = fold(callsView, rowsOf([said('x', 'old'), asked('c1', { contents: ['@x'] }), said('x', 'new')]))
  expect(modelRequestOf(calls, 'r1/c1')?.contents).toEqual([words('old')])
})

test('a request may continue a part of an earlier one', () => {
  const first = asked('c1', { contents: [words('one'), words('two')] })
  const calls = fold(callsView, rowsOf([first, asked('c2', { like: 'r1/c1', keep: 1, contents: [words('three')] })]))
  expect(modelRequestOf(calls, 'r1/c2')?.contents).toEqual([words('one'), words('three')])
})

test('a request whose references are not in the log says so, and one without words is none', () => {
  const bad = { like: 'r0/c9', keep: 1, contents: ['@gone', '#gone', words('here')], system: '#gone' }
  const calls = fold(callsView, rowsOf([asked('c1', bad), asked('c2')]))
  expect(modelRequestOf(calls, 'r1/c1')).toEqual({
    contents: [words('here')],
    omitted: 'The log lacks earlier rows that this request refers to.',
  })
  expect(modelRequestOf(calls, 'r1/c2')).toBeUndefined()
  const kept = fold(callsView, rowsOf([asked('c1', { contents: [], omitted: 'too large' })]))
  expect(modelRequestOf(kept, 'r1/c1')?.omitted).toBe('too large')
})

test('an answer that no message has is in the record', () => {
  const end: RunEvent = { kind: 'model.finished', call: 'c1', status: 'ok', response: { role: 'model', parts: [] } }
  const calls = fold(callsView, rowsOf([asked('c1'), end, { ...end, call: 'unknown' }]))
  const [call] = calls.calls.toArray()
  expect(call).toMatchObject({ status: 'ok', duration: 1 })
  expect(call === undefined ? [] : modelAnswersOf(calls, call)).toEqual([{ role: 'model', parts: [] }])
})

test('a crash cuts the calls of its nodes; a tool that waits for a person goes on', () => {
  const tool: RunEvent = {
    kind: 'agent',
    message: 't',
    event: {
      id: 't',
      author: 'a',
      invocationId: 'r1',
      timestamp: 1,
      content: { role: 'model', parts: [{ functionCall: { id: 'x', name: 'ask', args: {} } }] },
    },
  }
  const lost: RunEvent = { kind: 'superseded', messages: [], nodes: ['a@1'] }
  const calls = fold(
    callsView,
    rowsOf([
      asked('c1', undefined, 'a@1'),
      asked('c2', undefined, 'b@1'),
      lost,
      tool,
      { kind: 'run.finished', outcome: 'interrupted' },
    ]),
  )
  expect(calls.calls.toArray().map(({ call, status, endSeq }) => [call, status, endSeq])).toEqual([
    ['c1', 'cut', 3],
    ['c2', 'cut', 5],
    ['x', 'waiting', undefined],
  ])
})

test('a tool that waited for a person ends with its answer, which another run brings', () => {
  const spoke = (part: AdkPart): RunEvent => ({
    kind: 'agent',
    message: 't',
    event: { id: 't', author: 'a', invocationId: 'r', timestamp: 1, content: { role: 'model', parts: [part] } },
  })
  const call = spoke({ functionCall: { id: 'x', name: 'ask', args: {} } })
  const answer = spoke({ functionResponse: { id: 'x', name: 'ask', response: { yes: true } } })
  const [first, second] = [
    rowsOf([call, { kind: 'run.finished', outcome: 'interrupted' }]),
    rowsOf([{ kind: 'tool.finished', call: 'x', name: 'ask', status: 'ok', duration: 1 }, answer]),
  ]
  const later = second.map((row) => ({ ...row, seq: row.seq + 2, at: row.at + 1000, run: 'r2' }))
  const [asked] = fold(callsView, [...first, ...later]).calls.toArray()
  expect(asked).toMatchObject({ key: 'r1/x', status: 'ok', endSeq: 3, duration: 1 })
  const again = [...first, ...rowsOf([call, answer]).map((row) => ({ ...row, seq: row.seq + 2, run: 'r2' }))]
  expect(fold(callsView, again).calls.toArray()).toMatchObject([{ status: 'waiting' }, { key: 'r2/x', status: 'ok' }])
})
