import { samples } from '../kit/api-samples.ts'
import type { FuzzRequest } from './fuzz-requests.ts'

type Event = { readonly kind: string; readonly [field: string]: unknown }

/** An export with one run of these events. */
function exported(agent: string, events: readonly Event[], outcome = 'done'): string {
  const all: readonly Event[] = [
    { kind: 'run.started', agent, input: { messages: [] } },
    ...events,
    { kind: 'run.finished', outcome },
  ]
  const rows = all.map((event, i) => JSON.stringify({ seq: i + 1, at: 1_767_081_391_000 + i, run: 'r', event }))
  return [`{"format":"millrace.session","version":1,"session":{"agent":"${agent}","title":"t"}}`, ...rows].join('\n')
}

const task = (id: string, status: string, order: number) => ({ id, title: id, status, order })
const note = { kind: 'artifact', id: 'note', name: 'note', type: 'note', version: 0, part: { text: 'hello' } }
const functionCall = { id: 'call', name: 'look', args: {} }
const called = {
  kind: 'agent',
  message: 'c',
  event: {
    id: 'ev',
    author: 'assistant',
    invocationId: 'r',
    timestamp: 1_767_081_391_000,
    content: { role: 'model', parts: [{ functionCall }] },
  },
}

/** Sessions that have all that the samples of the API ask for. */
const sessions: Readonly<Record<string, string>> = {
  adk: exported('assistant', [called, note]),
  plan: exported('planner', [
    { kind: 'tasks', tasks: [task('t1', 'failed', 0), task('second', 'pending', 1), task('third', 'pending', 2)] },
    { kind: 'artifact', id: 'a1', name: 'Notes', type: 'note', version: 1, part: { text: '# Notes' } },
    { kind: 'data', id: 'd1', operation: 'create', itemType: 'contact', item: { name: 'Ada' } },
  ]),
  talk: exported('planner', []),
  asked: exported(
    'assistant',
    [{ kind: 'interrupt', id: 'ask', reason: 'confirm', message: 'Really?' }],
    'interrupted',
  ),
}

/** What the samples ask of sessions and agents that only tests have, as a shipped server has it. */
const elsewhere: Readonly<Record<string, Partial<Pick<FuzzRequest, 'path'>> & { readonly sent?: object }>> = {
  'POST /sessions': { sent: { id: 'made', title: 'A plan' } },
  'POST /sessions/{id}/chat': { path: '/sessions/talk/chat' },
  'PUT /sessions/{id}/tasks': { sent: { taskIds: ['third', 'second', 't1'] } },
  'POST /apps/{app}/users/{user}/sessions/{id}': { path: '/apps/assistant/users/user/sessions/adk-made' },
  'GET /api/projects/{id}/stream': { path: '/api/projects/assistant/stream?input=hi&session_id=streamed' },
}

/** A request for every door, in an order in which all of them are answered well. */
export function validRequests(): readonly FuzzRequest[] {
  const imports = Object.entries(sessions).map(
    ([id, body]): FuzzRequest => ({
      method: 'POST',
      route: '/sessions/import',
      path: `/sessions/import?id=${id}`,
      type: 'application/x-ndjson',
      body,
    }),
  )
  const others = samples.map(({ method, path: route, at, body, headers }): FuzzRequest => {
    const { path = renamed(at), sent = body } = elsewhere[`${method} ${route}`] ?? {}
    const text = sent === undefined || typeof sent === 'string' ? sent : renamed(JSON.stringify(sent))
    const type = headers?.['content-type'] ?? 'application/json'
    // A project can only be stored as it is.
    if (`${method} ${route}` === 'PUT /api/projects/{id}') return { method, route, path, type, echoes: true }
    return { method, route, path, ...(text === undefined ? {} : { type, body: text }) }
  })
  return [...imports, ...others]
}

const renamed = (text: string): string => text.replace(/\b(echo|asker)\b/g, 'assistant')
