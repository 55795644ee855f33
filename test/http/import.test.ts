import { fold, type Recorded, timelineView, transcriptView } from '@millrace/core'
import { wireText } from '@millrace/core/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agUi, began, events, inMs, jsonl, plan, session, snake, sse, studio } from '../kit/recordings.ts'
import { testServer } from '../kit/server.ts'
import { loadVectors } from '../kit/vectors.ts'

let server: Awaited<ReturnType<typeof testServer>>
beforeAll(async () => {
  server = await testServer()
})
afterAll(() => server.close(0))

const post = (id: string, payload: string, type = 'text/plain', query = '') =>
  server.app.inject({
    method: 'POST',
    url: `/sessions/import?id=${id}${query}`,
    payload,
    headers: { host: 'localhost', 'content-type': type },
  })

async function bring(id: string, payload: string, type?: string): Promise<readonly Recorded[]> {
  const answer = await post(id, payload, type)
  expect(answer.statusCode, answer.body).toBe(201)
  return server.log.read(id, { after: 0 })
}

function seen(rows: readonly Recorded[]): object {
  const messages = fold(transcriptView, rows)
    .settled.toArray()
    .flatMap((item) => (item.kind === 'message' ? [item] : []))
  const executions = fold(timelineView, rows).executions.toArray()
  return {
    said: messages.flatMap(({ text }) => (text === '' ? [] : [text])),
    tools: messages.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'tool')).length,
    longest: Math.max(0, ...executions.map(({ duration = 0 }) => duration)),
  }
}

const asked = ['Which fire?', 'Cedar Creek.']
describe('an import gives the messages, the calls and the times that are in it', () => {
  test.each([
    ['ADK, one event a line', jsonl(events), 'application/x-ndjson', asked, 1500],
    ['ADK, snake case', jsonl(snake), 'application/jsonl', asked, 1500],
    ['ADK, milliseconds', jsonl(inMs), 'text/plain', asked, 1500],
    ['ADK, SSE', sse(events), 'text/event-stream', asked, 1500],
    [
      'ADK, a stream that says where its run starts',
      `: run.started r1 scout\n\n${sse(events)}: run.finished done\n\n`,
      'text/event-stream',
      asked,
      1500,
    ],
    ['ADK, an array', JSON.stringify(events), 'text/plain', asked, 1500],
    ['ADK, an array as JSON', JSON.stringify(events), 'application/json', asked, 1500],
    ['ADK, an array over many lines', JSON.stringify(events, null, 2), 'text/plain', asked, 1500],
    ['an ADK session', JSON.stringify(session), 'text/plain', [...asked, ...asked], 1500],
    ['an ADK session as JSON', JSON.stringify(session), 'application/json', [...asked, ...asked], 1500],
    ['an ADK session over many lines', JSON.stringify(session, null, 2), 'text/plain', [...asked, ...asked], 1500],
    ['AG-UI, SSE', sse(agUi), 'text/event-stream', ['Cedar Creek.'], 700],
    ['AG-UI, one event a line', jsonl(agUi), 'application/x-ndjson', ['Cedar Creek.'], 700],
    ['AG-UI, an array', JSON.stringify(agUi), 'text/plain', ['Cedar Creek.'], 700],
    ['Studio', studio, 'text/event-stream', ['Cedar Creek.'], 1500],
    ['plan, which has no times', plan, 'text/event-stream', ['Cedar Creek.'], 0],
  ])('%s', async (name, text, type, said, longest) => {
    const id = name.replace(/\W+/g, '-')
    const rows = await bring(id, text, type)
    expect(seen(rows)).toEqual({ said, tools: said.filter((words) => words === 'Cedar Creek.').length, longest })
    expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).toSorted((a, b) => a - b))
    expect(rows.filter(({ event }) => event.kind === 'foreign')).toEqual([])
    expect((await server.log.get(id))?.status).toBe('done')
  })

  test('an ADK session: a run for each invocation, its agent, its state', async () => {
    const rows = await bring('whole', JSON.stringify(session))
    expect(rows.filter(({ event }) => event.kind === 'run.finished').map(({ at }) => at / 1000 - began)).toEqual([
      1.5, 61.5,
    ])
    expect(await server.log.get('whole')).toMatchObject({ agent: 'scouts', runs: 2 })
    const state = await server.app.inject({ url: '/sessions/whole/state', headers: { host: 'localhost' } })
    expect(state.json().state).toEqual({ fire: 'Cedar', region: 'west' })
  })

  test('AG-UI, which names no agent: the session has none, and no agent of this server is taken for it', async () => {
    await bring('unnamed', sse(agUi), 'text/event-stream')
    expect(await server.log.get('unnamed')).toMatchObject({ agent: '', runs: 1 })
  })

  test('events without a time, and a clock that went back, keep the log in order', async () => {
    const [first, second, third, fourth] = events as readonly [object, object, object, object]
    const rows = await bring(
      'clock',
      jsonl([
        { ...first, timestamp: undefined },
        second,
        { ...third, timestamp: began - 100 },
        { ...fourth, timestamp: undefined },
      ]),
    )
    expect(new Set(rows.map(({ at }) => at))).toEqual(new Set([began * 1000 + 500]))
  })

  test('an export keeps seq, time and run exactly', async () => {
    await bring('first', jsonl(events))
    const lines = (await server.app.inject({ url: '/sessions/first/log', headers: { host: 'localhost' } })).body
    expect(await bring('second', lines)).toEqual(await server.log.read('first', { after: 0 }))
  })

  test('one frame that cannot be read is kept beside those that can', async () => {
    const rows = await bring('kept', `${jsonl(events)}{"half": \n`)
    expect(rows.flatMap(({ event }) => (event.kind === 'foreign' ? [event.raw] : []))).toEqual(['{"half": '])
  })
})

describe('SPEC 2.10: a file without an end is a recording that was cut off', () => {
  const finishedOf = (rows: readonly Recorded[]) =>
    rows.flatMap(({ at, event }) => (event.kind === 'run.finished' ? [{ at, code: event.error?.code }] : []))
  const open: readonly (readonly [string, string])[] = [
    ['AG-UI, SSE', sse(agUi.slice(0, 7))],
    ['AG-UI, one event a line', jsonl(agUi.slice(0, 7))],
    ['AG-UI, an array', JSON.stringify(agUi.slice(0, 7))],
    ['Studio', studio.slice(0, studio.indexOf('event: chunk'))],
    ['plan', plan.slice(0, plan.indexOf('event: content'))],
    ['ADK, a call that was never answered', jsonl(events.slice(0, 2))],
    ['ADK, half a message', jsonl([...events.slice(0, 3), { ...events[3], partial: true }])],
    ['ADK, a stream that says where its run starts', `: run.started r1 scout\n\n${sse(events)}`],
  ]
  test.each(open)('%s', async (name, text) => {
    const id = `cut-${name.replace(/\W+/g, '-')}`
    const rows = await bring(id, text)
    expect(finishedOf(rows)).toEqual([{ at: rows.at(-2)?.at, code: 'cut' }])
    expect((await server.log.get(id))?.status).toBe('failed')
    const executions = fold(timelineView, rows).executions.toArray()
    expect(executions.filter(({ status }) => status === 'running' || status === 'error')).toEqual([])
    expect(Math.max(0, ...executions.map(({ endedAt = 0 }) => endedAt))).toBeLessThanOrEqual(rows.at(-2)?.at ?? 0)
  })

  test('an export of a run that was active', async () => {
    await bring('active', jsonl(agUi))
    const whole = (await server.app.inject({ url: '/sessions/active/log', headers: { host: 'localhost' } })).body
    const rows = await bring('cut-export', whole.split('\n').slice(0, 5).join('\n'))
    const before = (await server.log.read('active', { after: 0 })).slice(0, 4)
    expect(rows.slice(0, 4)).toEqual(before)
    const [at, seq] = [before.at(-1)?.at, before.at(-1)?.seq ?? 0]
    const error = { code: 'cut', message: 'the recording ends before the run does' }
    expect(rows.slice(4)).toEqual([
      { seq: seq + 1, at, run: 'r', event: { kind: 'node.finished', node: 'scout@1', status: 'interrupted' } },
      { seq: seq + 2, at, run: 'r', event: { kind: 'run.finished', outcome: 'failed', error } },
    ])
    expect((await server.log.get('cut-export'))?.status).toBe('failed')
  })
})

describe('what cannot be read is refused with the reason, and nothing is written', () => {
  const half = JSON.stringify(session).slice(0, 400)
  test.each([
    ['plain text', 'hello, this is no recording\n', '', /neither JSON nor an event stream/],
    ['frames of nothing', 'data: hello\n\ndata: again\n\n', '', /frame 1: not JSON/],
    ['lines of other JSON', '{"a":1}\n{"b":2}\n', '', /line 1: .*dialect/],
    ['lines that were said to be ADK', '{"a":1}\n{"b":2}\n', '&dialect=adk', /adk.*line 1: not an ADK event/],
    ['frames that were said to be AG-UI', 'data: 1\n\n', '&dialect=ag-ui', /ag-ui.*frame 1: not an object/],
    ['SSE that was said to be Studio', 'data: 1\n\n', '&dialect=studio', /studio.*frame 1/],
    ['an empty array', '[]', '', /no event/],
    ['a session without events', JSON.stringify({ ...session, events: [] }), '', /no event/],
    ['half a session', half, '', /JSON/],
    ['half an array', JSON.stringify(events).slice(0, 300), '', /JSON/],
    ['an array of numbers', '[1,2,3]', '', /event 1: /],
    ['a broken export', '{"format":"millrace.session","version":1}\n{}\n', '', /line 1/],
  ])('%s', async (_name, text, query, why) => {
    const answer = await post('bad', text, 'text/plain', query)
    expect(answer.statusCode, answer.body).toBe(422)
    expect(answer.json().detail).toMatch(why)
    expect(await server.log.get('bad')).toBeUndefined()
  })
})

test.each(['adk', 'ag-ui', 'studio', 'plan'] as const)(
  'every %s recording that has an event is taken',
  async (name) => {
    for (const { name: vector, wire, drafts } of loadVectors(name)) {
      if (drafts.every(({ event }) => /^(run|foreign)/.test(event.kind))) continue
      await bring(`${name}-${vector}`, wireText(wire), 'text/event-stream')
    }
  },
)
