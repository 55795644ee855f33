import { expect } from 'vitest'
import { scriptedAgent, speech, textOf } from './scripted-agent.ts'

/** Says, calls, changes state and saves: everything adk-web shows. */
export const helper = scriptedAgent('helper', function* (input) {
  const at = 1_767_081_391_000
  const event = { author: 'helper', invocationId: 'inv', timestamp: at }
  yield { kind: 'node.started', node: 'helper@1', agent: 'helper' }
  if (textOf(input) === 'fail') throw new Error('the tool broke')
  const functionCall = { id: 'call-1', name: 'look', args: { what: textOf(input) } }
  yield {
    kind: 'agent',
    message: 'm1',
    node: 'helper@1',
    event: {
      ...event,
      id: 'ev-call',
      content: { role: 'model', parts: [{ functionCall }] },
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3 },
    },
  }
  yield {
    kind: 'agent',
    message: 'm2',
    node: 'helper@1',
    event: {
      ...event,
      id: 'ev-result',
      actions: { stateDelta: { looked: true } },
      content: {
        role: 'user',
        parts: [{ functionResponse: { id: 'call-1', name: 'look', response: { result: 'seen' } } }],
      },
    },
  }
  for (const version of [0, 1])
    yield {
      kind: 'artifact',
      id: 'note',
      name: 'note.txt',
      type: 'text',
      version,
      part: { text: `version ${version}` },
    }
  yield {
    kind: 'artifact',
    id: 'pic',
    name: 'pic.png',
    type: 'image',
    version: 0,
    part: { inlineData: { mimeType: 'image/png', data: 'iVBORw==' } },
  }
  yield* speech('helper', 'All is seen.', { message: 'm3', at })
  yield { kind: 'node.finished', node: 'helper@1', status: 'ok' }
})

type Answer = { readonly status: number; readonly type: string; readonly text: string; readonly json: never }
interface Row {
  readonly row: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly form?: Record<string, string>
  readonly headers?: Record<string, string>
  readonly status?: number
  readonly reads?: (answer: Answer) => void
}

const base = '/apps/helper/users/user/sessions'
const dev = '/dev/apps/helper'
const is = (shape: unknown) => (answer: Answer) => expect(answer.json).toEqual(shape)
const isEmpty = is([])
const session = (more: object = {}) => ({
  id: expect.any(String),
  appName: 'helper',
  userId: 'user',
  state: expect.any(Object),
  events: expect.any(Array),
  lastUpdateTime: expect.any(Number),
  ...more,
})
const run = (sessionId: string, more: object = {}) => ({
  appName: 'helper',
  userId: 'user',
  sessionId,
  newMessage: { role: 'user', parts: [{ text: 'hello' }] },
  streaming: false,
  stateDelta: null,
  ...more,
})
/** One turn. Of three words, the helper says two and one other. */
const expected = [
  {
    invocationId: 'i',
    userContent: { role: 'user', parts: [{ text: 'hello' }] },
    finalResponse: { role: 'model', parts: [{ text: 'All seen today' }] },
    intermediateData: { toolUses: [{ name: 'look', args: { what: 'hello' } }], intermediateResponses: [] },
    creationTimestamp: 1,
  },
]
const dot = expect.stringMatching(/^digraph /)
const eventsOf = ({ text }: Answer) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)))

export const rows: readonly Row[] = [
  { row: '1 list-apps', method: 'GET', path: '/list-apps?relative_path=./', reads: is(['helper']) },
  {
    row: '2 version',
    method: 'GET',
    path: '/version',
    reads: is({ version: 'test', language: expect.any(String), language_version: expect.any(String) }),
  },
  {
    row: '3 run_sse, token streaming',
    method: 'POST',
    path: '/run_sse',
    body: run('chat', { streaming: true, stateDelta: { mood: 'calm' } }),
    reads: (answer) => {
      expect(answer.type).toBe('text/event-stream')
      const events = eventsOf(answer)
      const partials = events.filter(({ partial }) => partial === true)
      expect(partials.map(({ content }) => content.parts[0].text).join('')).toBe('All is seen.')
      expect(
        events.filter(({ partial, content }) => partial !== true && content?.parts?.[0]?.text === 'All is seen.'),
      ).toHaveLength(1)
      for (const event of events) {
        expect(event).toMatchObject({
          id: expect.any(String),
          author: expect.any(String),
          invocationId: expect.any(String),
        })
        expect(event.timestamp).toBeLessThan(1e11)
      }
      expect(events.find(({ id }) => id === 'ev-result')?.actions.stateDelta).toEqual({ looked: true })
    },
  },
  {
    row: '3 run_sse, whole events',
    method: 'POST',
    path: '/run_sse',
    body: run('chat'),
    reads: (answer) => expect(eventsOf(answer).some(({ partial }) => partial === true)).toBe(false),
  },
  {
    row: '3 run_sse with a function response and a file',
    method: 'POST',
    path: '/run_sse',
    body: run('chat', {
      functionCallEventId: 'ev-call',
      invocationId: 'inv',
      newMessage: {
        role: 'user',
        parts: [
          { functionResponse: { id: 'call-1', name: 'look', response: { ok: true } } },
          { inlineData: { displayName: 'a.png', data: 'iVBORw==', mimeType: 'image/png' } },
        ],
      },
    }),
    reads: (answer) => expect(eventsOf(answer).at(-1).content.parts[0].text).toBe('All is seen.'),
  },
  {
    row: '3 run_sse that fails says so inside the stream',
    method: 'POST',
    path: '/run_sse',
    body: run('failing', { newMessage: { role: 'user', parts: [{ text: 'fail' }] } }),
    reads: (answer) =>
      expect(
        eventsOf(answer).some(
          (event) => JSON.stringify(event).includes('the tool broke') && ('error' in event || 'errorMessage' in event),
        ),
      ).toBe(true),
  },
  { row: '5 create, null body', method: 'POST', path: base, body: null, reads: is(session({ events: [], state: {} })) },
  {
    row: '5 create with state',
    method: 'POST',
    path: base,
    body: { state: { a: 1 } },
    reads: is(session({ state: { a: 1 } })),
  },
  {
    row: '5 import',
    method: 'POST',
    path: base,
    body: {
      state: { a: 1 },
      events: [
        {
          id: 'u',
          author: 'user',
          invocationId: 'i',
          timestamp: 1_700_000_000,
          content: { role: 'user', parts: [{ text: 'hi' }] },
        },
        {
          id: 'e',
          author: 'helper',
          invocationId: 'i',
          timestamp: 1_700_000_001.5,
          content: { role: 'model', parts: [{ text: 'ho' }] },
          actions: { stateDelta: { b: 2 }, artifactDelta: {} },
        },
      ],
    },
    reads: ({ json }) =>
      expect(json).toMatchObject({
        state: { a: 1, b: 2 },
        events: [{ author: 'user' }, { id: 'e', timestamp: 1_700_000_001.5, content: { parts: [{ text: 'ho' }] } }],
      }),
  },
  {
    row: '6 list sessions',
    method: 'GET',
    path: base,
    reads: ({ json }) => expect(json).toEqual(expect.arrayContaining([session({ id: 'chat' })])),
  },
  {
    row: '7 a session',
    method: 'GET',
    path: `${base}/chat`,
    reads: ({ json }) => {
      expect(json).toEqual(session({ id: 'chat', state: expect.objectContaining({ mood: 'calm', looked: true }) }))
      expect((json as { events: { author: string }[] }).events.map(({ author }) => author)).toEqual(
        expect.arrayContaining(['user', 'helper']),
      )
      expect((json as { lastUpdateTime: number }).lastUpdateTime).toBeLessThan(1e11)
    },
  },
  {
    row: '8 change state',
    method: 'PATCH',
    path: `${base}/chat`,
    body: { stateDelta: { mood: 'glad' } },
    reads: is(session({ state: expect.objectContaining({ mood: 'glad' }) })),
  },
  {
    row: '8 rename',
    method: 'PATCH',
    path: `${base}/chat`,
    body: { stateDelta: { __session_metadata__: { displayName: 'Mine' } } },
    reads: is(session({ state: expect.objectContaining({ __session_metadata__: { displayName: 'Mine' } }) })),
  },
  { row: '9 artifact', method: 'GET', path: `${base}/chat/artifacts/note.txt`, reads: is({ text: 'version 1' }) },
  {
    row: '9 artifact version',
    method: 'GET',
    path: `${base}/chat/artifacts/note.txt/versions/0`,
    reads: is({ text: 'version 0' }),
  },
  {
    row: '9 binary artifact',
    method: 'GET',
    path: `${base}/chat/artifacts/pic.png`,
    reads: is({ inlineData: { mimeType: 'image/png', data: 'iVBORw==' } }),
  },
  ...[`${dev}/debug`, '/debug'].map(
    (at): Row => ({
      row: '10 session trace',
      method: 'GET',
      path: `${at}/trace/session/chat`,
      reads: ({ json }) => areSpans(json),
    }),
  ),
  ...[`${dev}/debug`, '/debug'].map(
    (at): Row => ({
      row: '11 event trace',
      method: 'GET',
      path: `${at}/trace/ev-call`,
      reads: ({ json }) => expect(json).toMatchObject({ 'gcp.vertex.agent.event_id': 'ev-call' }),
    }),
  ),
  {
    row: '12 graph',
    method: 'GET',
    path: `${dev}/build_graph`,
    reads: ({ json }) =>
      expect(json).toMatchObject({
        name: 'helper',
        root_agent: {
          name: 'helper',
          sub_agents: [],
          graph: { nodes: [{ name: 'helper' }], edges: [] },
          tools: expect.any(Array),
        },
      }),
  },
  {
    row: '13 graph image',
    method: 'GET',
    path: `${dev}/build_graph_image?dark_mode=true`,
    reads: is({ '': { dotSrc: dot }, dotSrc: dot }),
  },
  {
    row: '13 graph image of a node',
    method: 'GET',
    path: `${dev}/build_graph_image?dark_mode=false&node=helper`,
    reads: is({ '': { dotSrc: dot }, dotSrc: dot }),
  },
  { row: '14 event graph', method: 'GET', path: `/dev${base}/chat/events/ev-call/graph`, reads: is({ dotSrc: dot }) },
  {
    row: '14 event graph, older path',
    method: 'GET',
    path: `${base}/chat/events/ev-call/graph`,
    reads: is({ dotSrc: dot }),
  },
  { row: '14 event graph of no event', method: 'GET', path: `/dev${base}/chat/events/none/graph`, reads: is({}) },
  {
    row: '15 builder',
    method: 'GET',
    path: `${dev}/builder?ts=1&tmp=true&file_path=root_agent.yaml`,
    reads: ({ text, type }) => expect([text, type]).toEqual(['', 'text/plain']),
  },
  {
    row: '16 builder save',
    method: 'POST',
    path: `${dev}/builder/save?tmp=true`,
    form: { files: 'name: helper' },
    reads: is(false),
  },
  { row: '16 builder cancel', method: 'POST', path: `${dev}/builder/cancel`, form: { files: '' }, reads: is(false) },
  ...[dev, '/apps/helper'].flatMap((at, i): Row[] => [
    { row: '17 eval sets, none', method: 'GET', path: `${at}/eval_sets`, reads: is(i === 0 ? [] : ['e0']) },
    {
      row: '17 make an eval set',
      method: 'POST',
      path: `${at}/eval-sets`,
      body: { eval_set: { eval_set_id: `e${i}`, model_execution_mode: 'live', eval_cases: [] } },
      reads: is({ evalSetId: `e${i}`, evalCases: [], creationTimestamp: expect.any(Number) }),
    },
    {
      row: '17 make it again',
      method: 'POST',
      path: `${at}/eval-sets`,
      body: { eval_set: { eval_set_id: `e${i}`, eval_cases: [] } },
      status: 409,
    },
    { row: '17 a bad name', method: 'POST', path: `${at}/eval_sets/${encodeURIComponent('../x')}`, status: 422 },
    {
      row: '17 an eval set',
      method: 'GET',
      path: `${at}/eval-sets/e${i}`,
      reads: is(expect.objectContaining({ evalCases: [] })),
    },
    {
      row: '17 add a session',
      method: 'POST',
      path: `${at}/eval_sets/e${i}/add_session`,
      body: { evalId: 'c', sessionId: 'chat', userId: 'user' },
      reads: is(null),
    },
    {
      row: '17 add it again',
      method: 'POST',
      path: `${at}/eval_sets/e${i}/add_session`,
      body: { evalId: 'c', sessionId: 'chat', userId: 'user' },
      status: 409,
    },
    {
      row: '17 add the session of another',
      method: 'POST',
      path: `${at}/eval_sets/e${i}/add_session`,
      body: { evalId: 'd', sessionId: 'chat', userId: 'eve' },
      status: 404,
    },
    { row: '17 evals', method: 'GET', path: `${at}/eval_sets/e${i}/evals`, reads: is(['c']) },
    {
      row: '17 an eval',
      method: 'GET',
      path: `${at}/eval_sets/e${i}/evals/c`,
      reads: ({ json }) => {
        const { conversation } = json as { conversation: Record<string, unknown>[] }
        expect(conversation[0]).toMatchObject({
          userContent: { role: 'user', parts: [{ text: 'hello' }] },
          finalResponse: { role: 'model', parts: [{ text: 'All is seen.' }] },
          intermediateData: { toolUses: [{ name: 'look', args: { what: 'hello' } }] },
        })
      },
    },
    {
      row: '17 edit an eval',
      method: 'PUT',
      path: `${at}/eval_sets/e${i}/evals/c`,
      body: { evalId: 'c', conversation: expected, sessionInput: { appName: 'helper', userId: 'user', state: {} } },
      reads: is(null),
    },
    { row: '17 edit no eval', method: 'PUT', path: `${at}/eval_sets/e${i}/evals/none`, body: {}, status: 404 },
    {
      row: '17 run, as adk-web 1.0 asks',
      method: 'POST',
      path: `${at}/eval_sets/e${i}/run_eval`,
      body: {
        evalIds: ['c'],
        evalMetrics: [
          { metricName: 'tool_trajectory_avg_score', threshold: 1 },
          { metricName: 'response_match_score', threshold: 0.7 },
          { metricName: 'safety_v1', threshold: 1 },
        ],
      },
      reads: ({ json }) =>
        expect(json).toMatchObject([
          {
            evalId: 'c',
            finalEvalStatus: 2,
            overallEvalMetricResults: [
              { metricName: 'tool_trajectory_avg_score', score: 1, evalStatus: 1 },
              { metricName: 'response_match_score', score: expect.closeTo(2 / 3), evalStatus: 2 },
              { metricName: 'safety_v1', evalStatus: 3 },
            ],
            sessionId: expect.stringMatching(/^___eval___session___/),
          },
        ]),
    },
    {
      row: '17 run, as newer releases ask',
      method: 'POST',
      path: `${at}/eval-sets/e${i}/run`,
      body: { eval_case_ids: [], eval_metrics: [{ metric_name: 'response_match_score', threshold: 0.5 }] },
      reads: ({ json }) => expect(json).toMatchObject({ runEvalResults: [{ evalId: 'c', finalEvalStatus: 1 }] }),
    },
    {
      row: '17 eval results',
      method: 'GET',
      path: `${at}/eval_results`,
      reads: ({ json }) => expect(json).toEqual(expect.arrayContaining([expect.stringMatching(`^helper_e${i}_\\d+`)])),
    },
    { row: '17 no eval result', method: 'GET', path: `${at}/eval_results/r`, status: 404 },
    { row: '17 drop an eval', method: 'DELETE', path: `${at}/eval_sets/e${i}/evals/c`, reads: is(null) },
    { row: '17 evals, none', method: 'GET', path: `${at}/eval_sets/e${i}/evals`, reads: isEmpty },
    { row: '17 no eval set', method: 'GET', path: `${at}/eval_sets/none/evals`, status: 404 },
  ]),
  { row: '17 eval sets', method: 'GET', path: `${dev}/eval_sets`, reads: is(['e0', 'e1']) },
  { row: '17 drop an eval set', method: 'DELETE', path: `${dev}/eval_sets/e0`, reads: is(null) },
  { row: '17 drop it again', method: 'DELETE', path: `${dev}/eval-sets/e0`, status: 404 },
  {
    row: '17 metrics',
    method: 'GET',
    path: `${dev}/metrics-info`,
    reads: ({ json }) =>
      expect(json).toMatchObject({
        metricsInfo: [
          { metricName: 'tool_trajectory_avg_score', metricValueInfo: { interval: { minValue: 0, maxValue: 1 } } },
          { metricName: 'response_match_score' },
        ],
      }),
  },
  {
    row: '6 sessions of evaluations are not listed',
    method: 'GET',
    path: base,
    reads: ({ text }) => expect(text).not.toContain('___eval___'),
  },
  { row: '18 tests', method: 'GET', path: `${dev}/tests`, reads: isEmpty },
  { row: '18 a test', method: 'GET', path: `${dev}/tests/t`, status: 404 },
  { row: '18 save a test', method: 'PUT', path: `${dev}/tests/t`, body: { session_data: {} }, status: 404 },
  { row: '18 drop a test', method: 'DELETE', path: `${dev}/tests/t`, status: 404 },
  { row: '18 rebuild tests', method: 'POST', path: `${dev}/tests/rebuild?test_name=t`, status: 404 },
  { row: '18 run tests', method: 'POST', path: `${dev}/tests/run?test_name=t`, status: 404 },
  { row: '19 telemetry', method: 'GET', path: '/config/telemetry', reads: is({ telemetry: false }) },
  {
    row: '19 set telemetry',
    method: 'POST',
    path: '/config/telemetry',
    body: { telemetry: true },
    headers: { 'x-adk-telemetry-request': 'true' },
    reads: is({ telemetry: false }),
  },
  {
    row: '20 finalize',
    method: 'POST',
    path: '/agent-identity/finalize',
    body: { connectorName: 'c', userId: 'user', userIdValidationState: 's', consentNonce: 'n' },
    reads: is({ finalized: false }),
  },
  { row: '7 delete', method: 'DELETE', path: `${base}/failing`, reads: is(null) },
]

/** adk-web's zod is all or nothing: one span it cannot read and it shows none. */
function areSpans(json: unknown): void {
  const spans = json as Record<string, unknown>[]
  const ids = new Set(spans.map(({ span_id }) => span_id))
  expect(ids.size).toBe(spans.length)
  for (const { name, span_id, trace_id, start_time, end_time, parent_span_id, attributes } of spans) {
    expect([typeof name, typeof span_id, typeof trace_id]).toEqual(['string', 'string', 'string'])
    // Nanoseconds.
    expect(Number(start_time)).toBeGreaterThan(1e18)
    expect(Number(end_time)).toBeGreaterThanOrEqual(Number(start_time))
    expect(parent_span_id === null || ids.has(parent_span_id)).toBe(true)
    const facts = attributes as Record<string, unknown>
    if (facts['gen_ai.operation.name'] === 'invoke_agent') expect(facts['gen_ai.conversation.id']).toBe('chat')
    if (facts['gen_ai.operation.name'] === 'generate_content') {
      expect(facts['gcp.vertex.agent.event_id']).toEqual(expect.any(String))
      expect(facts['gcp.vertex.agent.invocation_id']).toEqual(expect.any(String))
    }
  }
  const names = spans.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['invocation', 'invoke_agent helper', 'execute_tool look']))
}
