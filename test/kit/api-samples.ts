import type { Agent } from '@millrace/server'
import { scriptedAgent, speech, textOf } from './scripted-agent.ts'

/** One request for every operation of the API, in an order in which all of them are answered well. */
export interface Sample {
  readonly method: string
  /** As the document names it. */
  readonly path: string
  /** As it is asked here. */
  readonly at: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

const echo = scriptedAgent('echo', function* (input) {
  yield { kind: 'node.started', node: 'echo@1', agent: 'echo' }
  yield { kind: 'state', patch: [{ op: 'add', path: '/heard', value: textOf(input) }], node: 'echo@1' }
  const functionCall = { id: 'call', name: 'look', args: {} }
  const event = { author: 'echo', invocationId: 'inv', timestamp: 1_767_081_391_000 }
  yield {
    kind: 'agent',
    message: 'c',
    node: 'echo@1',
    event: { ...event, id: 'ev', content: { role: 'model', parts: [{ functionCall }] } },
  }
  yield { kind: 'artifact', id: 'note', name: 'note', type: 'note', version: 0, part: { text: 'hello' } }
  yield* speech('echo', `You said ${textOf(input)}`)
  yield { kind: 'node.finished', node: 'echo@1', status: 'ok' }
})
const planner = scriptedAgent('planner', function* (input) {
  if (input.props?.mode === 'execute') {
    yield { kind: 'task.started', task: 't1' }
    yield { kind: 'artifact', id: 'a1', name: 'Notes', type: 'note', version: 1, part: { text: '# Notes' }, task: 't1' }
    yield { kind: 'data', id: 'd1', operation: 'create', itemType: 'contact', item: { name: 'Ada' }, task: 't1' }
    yield { kind: 'task.finished', task: 't1', status: 'done', result: 'written' }
    yield { kind: 'task.reflected', task: 't1', text: 'well' }
    return
  }
  yield* speech('chat', 'Here is a plan.')
  const titles = { t1: 'Write notes', second: 'Read them' }
  const tasks = Object.entries(titles).map(([id, title], order) => ({ id, title, status: 'pending' as const, order }))
  yield { kind: 'tasks', tasks }
})
const asker = scriptedAgent('asker', function* (input) {
  if (input.resume !== undefined) return yield* speech('asker', 'Thank you')
  yield { kind: 'interrupt', id: 'ask', reason: 'confirm', message: 'Really?', node: 'asker@1' }
  yield { kind: 'run.finished', outcome: 'interrupted' }
})
export const apiAgents: readonly Agent[] = [echo, planner, asker]

const run = { threadId: 'any', messages: [{ id: '1', role: 'user', content: 'hi' }] }
const adkRun = { appName: 'echo', userId: 'user', sessionId: 'adk', newMessage: { parts: [{ text: 'hi' }] } }
const adkBase = '/apps/{app}/users/{user}/sessions'
const fill = (path: string): string =>
  path
    .replace('{app}', 'echo')
    .replace('{user}', 'user')
    .replace('{agent}', 'echo')
    .replace('{session}', 'adk')
    .replace('{event}', 'ev')
    .replace('{name}', 'note')
    .replace('{version}', '0')
    .replace('{view}', 'transcript')
    .replace('{task}', 't1')
    .replace('{set}', 'set')
    .replace('{case}', 'c')

const sample = (method: string, path: string, id = 'any', body?: unknown, query = ''): Sample => ({
  method,
  path,
  at: `${fill(path).replace('{id}', id)}${query}`,
  ...(body === undefined ? {} : { body }),
})
const item = (method: string, path: string, name: string): Sample => {
  const { at, ...rest } = sample(method, path, 'plan')
  return { ...rest, at: at.replace('{item}', name) }
}

const echoProject = {
  name: 'echo',
  description: 'The echo of this test',
  agents: { echo: { type: 'llm', instruction: '', tools: [] } },
  workflow: {
    edges: [
      { from: 'manual_trigger', to: 'START' },
      { from: 'START', to: 'echo' },
      { from: 'echo', to: 'END' },
    ],
  },
}

export const samples: readonly Sample[] = [
  ...['/health', '/ready', '/metrics', '/openapi.json', '/docs', '/agents'].map((path) => sample('GET', path)),
  sample('GET', '/me'),
  ...['/sign-in', '/sign-out'].map((path) => sample('POST', path)),
  ...['/operator/users', '/operator/sessions'].map((path) => sample('GET', path)),
  sample('POST', '/', '', { ...run, runId: 'one' }),
  sample('GET', '/operator/users/{user}/sessions/{id}/log'),
  sample('POST', '/ag-ui/{agent}', '', { ...run, runId: 'two' }),
  sample('GET', '/ag-ui/{agent}/capabilities'),
  // Any session.
  sample('POST', '/sessions', '', { id: 'plan', title: 'A plan' }),
  sample('GET', '/sessions'),
  sample('GET', '/search', '', undefined, '?q=you+sa'),
  sample('PATCH', '/sessions/{id}', 'plan', { title: 'My plan' }),
  sample('POST', '/sessions/{id}/runs', 'other', { agent: 'echo', input: { messages: [] } }),
  sample('GET', '/sessions/{id}/events', 'any', undefined, '?dialect=adk&run=one'),
  sample('POST', '/sessions/{id}/cancel', 'any', {}),
  sample('GET', '/sessions/{id}/state'),
  sample('GET', '/sessions/{id}/views/{view}'),
  sample('PUT', '/sessions/{id}/feedback', 'any', { about: { run: 'one' }, rating: 'up' }),
  sample('GET', '/sessions/{id}/report'),
  sample('GET', '/sessions/{id}/log'),
  sample('POST', '/sessions/{id}/fork', 'any', { at: 3, id: 'forked' }),
  sample('POST', '/sessions/{id}/run-on/plan', 'any', { change: { field: 'message', run: 'one', text: 'Again' } }),
  sample('POST', '/sessions/{id}/run-on', 'any', { change: { field: 'message', run: 'one', text: 'Again' } }),
  {
    ...sample(
      'POST',
      '/sessions/import',
      '',
      'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n',
      '?dialect=ag-ui',
    ),
    headers: { 'content-type': 'text/event-stream' },
  },
  // Plan.
  sample('POST', '/sessions/{id}/chat', 'plan', { message: 'plan it' }),
  sample('GET', '/sessions/{id}/tasks', 'plan'),
  sample('PUT', '/sessions/{id}/tasks', 'plan', { taskIds: ['second', 't1'] }),
  sample('POST', '/sessions/{id}/tasks', 'plan', { title: 'Second', order: 0 }),
  sample('GET', '/sessions/{id}/tasks/{task}', 'plan'),
  sample('PATCH', '/sessions/{id}/tasks/{task}', 'plan', { description: 'Good ones' }),
  { method: 'DELETE', path: '/sessions/{id}/tasks/{task}', at: '/sessions/plan/tasks/second' },
  sample('POST', '/sessions/{id}/execute', 'plan', {}),
  sample('GET', '/sessions/{id}', 'plan'),
  sample('POST', '/sessions/{id}/tasks/{task}/retry', 'plan'),
  sample('GET', '/sessions/{id}/artifacts', 'plan'),
  item('GET', '/sessions/{id}/artifacts/{item}', 'a1'),
  item('GET', '/sessions/{id}/artifacts/{item}/download', 'a1'),
  item('DELETE', '/sessions/{id}/artifacts/{item}', 'a1'),
  sample('GET', '/sessions/{id}/data-items', 'plan'),
  item('GET', '/sessions/{id}/data-items/{item}', 'd1'),
  // ADK.
  sample('GET', '/list-apps'),
  sample('GET', '/version'),
  sample('POST', adkBase, '', { state: { a: 1 } }),
  sample('POST', `${adkBase}/{id}`, 'adk', { state: { a: 1 } }),
  sample('GET', adkBase),
  sample('POST', '/run', '', adkRun),
  sample('POST', '/run_sse', '', adkRun),
  sample('GET', `${adkBase}/{id}`, 'adk'),
  sample('PATCH', `${adkBase}/{id}`, 'adk', { stateDelta: { b: 2 } }),
  ...['', '/{name}', '/{name}/versions', '/{name}/versions/{version}'].map((path) =>
    sample('GET', `${adkBase}/{id}/artifacts${path}`, 'adk'),
  ),
  ...['/debug', '/dev/apps/{app}/debug'].flatMap((base) =>
    ['session/{session}', '{event}'].map((path) => sample('GET', `${base}/trace/${path}`)),
  ),
  ...['', '/dev'].map((base) => sample('GET', `${base}${adkBase}/{id}/events/{event}/graph`, 'adk')),
  ...['build_graph', 'build_graph_image', 'metrics-info', 'tests', 'builder'].map((path) =>
    sample('GET', `/dev/apps/{app}/${path}`),
  ),
  sample('POST', '/dev/apps/{app}/eval-sets', '', { eval_set: { eval_set_id: 'set', eval_cases: [] } }),
  sample('GET', '/dev/apps/{app}/eval_sets'),
  sample('POST', '/dev/apps/{app}/eval_sets/{set}/add_session', '', { evalId: 'c', sessionId: 'adk', userId: 'user' }),
  ...['', '/evals', '/evals/{case}'].map((path) => sample('GET', `/dev/apps/{app}/eval_sets/{set}${path}`)),
  sample('PUT', '/dev/apps/{app}/eval_sets/{set}/evals/{case}', '', {
    evalId: 'c',
    conversation: [{ userContent: { parts: [{ text: 'hi' }] } }],
  }),
  sample('POST', '/dev/apps/{app}/eval_sets/{set}/run_eval', '', { evalIds: ['c'] }),
  sample('GET', '/dev/apps/{app}/eval_results'),
  sample('DELETE', '/dev/apps/{app}/eval_sets/{set}/evals/{case}'),
  sample('DELETE', '/dev/apps/{app}/eval_sets/{set}'),
  ...['save', 'cancel'].map((what) => sample('POST', `/dev/apps/{app}/builder/${what}`)),
  sample('GET', '/config/telemetry'),
  sample('POST', '/config/telemetry', '', { telemetry: true }),
  sample('POST', '/agent-identity/finalize', '', { connectorName: 'c', userId: 'u', consentNonce: 'n' }),
  sample('DELETE', `${adkBase}/{id}/artifacts/{name}`, 'adk'),
  sample('DELETE', `${adkBase}/{id}`, 'adk'),
  // Studio.
  sample('GET', '/api/projects'),
  sample('GET', '/api/projects/{id}', 'echo'),
  ...['build-stream', 'keys'].map((path) => sample('GET', `/api/projects/{id}/${path}`, 'echo')),
  sample('POST', '/api/projects/{id}/build', 'echo'),
  sample('GET', '/api/settings/detected-keys'),
  sample('PUT', '/api/projects/{id}', 'echo', echoProject),
  // With `binary_path` the stream ends where the agent asks.
  sample('GET', '/api/projects/{id}/stream', 'asker', undefined, '?input=hi&session_id=asked&binary_path=b'),
  sample('POST', '/api/sessions/{id}/resume', 'asked', { response: true }),
  sample('POST', '/api/projects/{id}/stream', 'echo', { input: 'hi', session_id: 'studio' }),
  sample('DELETE', '/api/sessions/{id}', 'studio'),
  sample('DELETE', '/sessions/{id}', 'plan'),
  sample('DELETE', '/sessions/{id}', 'other', undefined, '?undo=true'),
  sample('POST', '/sessions/{id}/restore', 'other'),
  { method: 'DELETE', path: '/operator/users/{user}', at: '/operator/users/nobody' },
]
