import { describe, expect, test } from 'vitest'
import { ended, events, foldState, rows, said, traces } from '../../../../../test/kit/studio-wire.ts'
import type { NodeId, RunEvent } from '../../event/run-event.ts'
import { encodeAll, recorded } from '../../testing/index.ts'
import { flowView, stateKeys } from '../../view/flow/index.ts'
import { fold } from '../../view/view.ts'
import { studio } from './index.ts'

const asked: RunEvent = {
  kind: 'run.started',
  agent: 'lead',
  input: { messages: [{ id: 'u', role: 'user', content: { parts: [{ text: 'What is ADK?' }] } }] },
}
const start = (node: NodeId, more: object = {}): RunEvent => ({
  kind: 'node.started',
  node,
  agent: node.replace(/^.*\/|@\d+$/g, ''),
  ...more,
})
const end = (node: NodeId): RunEvent => ({ kind: 'node.finished', node, status: 'ok' })
const by = (node: NodeId, event: RunEvent): RunEvent => ({ ...event, node }) as RunEvent
const wrote = (node: NodeId, key: string): RunEvent => ({
  kind: 'state',
  node,
  patch: [{ op: 'add', path: `/${key}`, value: 1 }],
})

describe('the query and the response in snapshots', () => {
  const log = rows([
    asked,
    start('lead@1'),
    by('lead@1', said('lead', 'A kit.')),
    wrote('lead@1', 'k'),
    end('lead@1'),
    ended,
  ])

  test('the first input has the query, the last output the response', () => {
    const [first, last, done] = traces(encodeAll(studio, log))
    const [input, output] = [{ query: 'What is ADK?' }, { query: 'What is ADK?', k: 1, response: 'A kit.' }]
    expect(first).toMatchObject({ type: 'node_start', state_snapshot: { input, output: {} }, state_keys: ['query'] })
    expect(last).toMatchObject({ type: 'node_end', state_snapshot: { input, output } })
    expect(done).toMatchObject({ type: 'done', state_snapshot: { input, output }, state_keys: Object.keys(output) })
  })

  test('a reader does not take them for state', () => {
    expect(foldState(events(encodeAll(studio, log)))).toEqual({ k: 1 })
  })

  test('state of the same name comes first, and is read as state', () => {
    const own = rows([asked, start('lead@1'), wrote('lead@1', 'query'), end('lead@1'), ended])
    const frames = encodeAll(studio, own)
    expect(traces(frames).at(-1)?.state_snapshot).toEqual({ input: {}, output: { query: 1 } })
    expect(foldState(events(frames))).toEqual({ query: 1 })
  })
})

test('a state trace names its node, and a reader gets the edges of the flow view', () => {
  const list = [
    asked,
    start('lead@1'),
    wrote('lead@1', 'plan'),
    start('lead/a@1', { parent: 'lead@1' }),
    start('lead/b@1', { parent: 'lead@1' }),
    wrote('lead/a@1', 'found'),
    wrote('lead/b@1', 'checked'),
    end('lead/b@1'),
    end('lead/a@1'),
    end('lead@1'),
    ended,
  ]
  const frames = encodeAll(studio, rows(list))
  expect(
    traces(frames).flatMap(({ type, node, state_keys }) => (type === 'state' ? [[node, state_keys]] : [])),
  ).toEqual([
    ['lead', ['plan']],
    ['a', ['found']],
  ])
  const keys = (events: readonly RunEvent[]) => stateKeys(fold(flowView, rows(events)))
  expect(keys(events(frames))).toEqual(keys(list))
  expect(keys(list).get('lead->lead/a')).toEqual(['plan'])
})

test.each<[string, RunEvent]>([
  [
    'its record',
    { kind: 'model.started', call: 'c1', agent: 'lead', model: 'gemini-2.5-flash', tools: 2, node: 'lead@1' },
  ],
  [
    'the line that older servers have written',
    {
      kind: 'log',
      level: 'debug',
      message: 'Calling gemini-2.5-flash (tools: 2)',
      data: { model: 'gemini-2.5-flash', tools: 2 },
      node: 'lead@1',
    },
  ],
])('a call of the model is a log frame, exactly as the schema shows it: from %s', (_from, call) => {
  const ran: RunEvent[] = [
    { kind: 'model.finished', call: 'c1', status: 'ok', node: 'lead@1' },
    { kind: 'tool.finished', call: 't1', name: 'find', status: 'ok', duration: 3, node: 'lead@1' },
  ]
  const frames = encodeAll(studio, rows([asked, start('lead@1'), call, ...ran]))
  expect(frames.at(-1)).toEqual({ event: 'log', data: '{"message":"Calling gemini-2.5-flash (tools: 2)"}' })
})

test('a run that waits for a person has no end, and what follows the answer is on the same stream', () => {
  const ask: RunEvent = { kind: 'interrupt', id: 'q', reason: 'input_required', message: 'ok?', node: 'lead@1' }
  const first: RunEvent[] = [
    asked,
    start('lead@1'),
    ask,
    { kind: 'node.finished', node: 'lead@1', status: 'interrupted' },
    { kind: 'run.finished', outcome: 'interrupted', usage: { modelCalls: 1 } },
  ]
  const second: RunEvent[] = [
    { kind: 'run.started', agent: 'lead', input: { messages: [] } },
    { kind: 'resumed', interrupt: 'q', status: 'resolved', payload: true },
    said('lead', 'Done.'),
    ended,
  ]
  const log = recorded([
    ...first.map((event) => ({ run: 'r', event })),
    ...second.map((event) => ({ run: 'r.2', event })),
  ])
  const frames = encodeAll(studio, log)
  const names = frames.map(({ event, data }) => (event === 'trace' ? `${JSON.parse(data).type}` : event))
  expect(names).toEqual([
    'session',
    'node_start',
    'interrupt',
    'node_end',
    'interrupted',
    'session',
    'resume',
    'node_start',
    'chunk',
    'node_end',
    'done',
    'end',
  ])
  const read = events(frames)
  expect(read.flatMap((event) => (event.kind === 'run.finished' ? [event] : []))).toEqual([
    { kind: 'run.finished', outcome: 'interrupted', usage: { modelCalls: 1 } },
    ended,
  ])
  expect(read).toContainEqual({
    kind: 'node.finished',
    node: 'lead@1',
    status: 'interrupted',
    duration: expect.any(Number),
  })
})
