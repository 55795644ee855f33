import {
  type AdkPart,
  adk,
  agUi,
  type Connection,
  connect,
  type Host,
  MillraceError,
  type RunEvent,
  type RunInput,
  toRunAgentInput,
} from '@millrace/core'
import type { Agent, RunContext } from './agent.ts'
import type { RemoteEntry } from './config.ts'

/**
 * An agent on another server: any AG-UI endpoint, or any ADK server. Millrace becomes its durable, multi-dialect front.
 * A message that may have run is never sent again: a cut upstream that cannot be re-joined fails the run, with the reason.
 */
export function remoteAgent(name: string, entry: RemoteEntry, host: Host): Agent {
  return {
    name,
    describe: async () => ({
      name,
      description: `Runs on another server, over ${entry.dialect === 'adk' ? 'ADK' : 'AG-UI'}`,
      engine: 'remote',
      graph: { nodes: [{ id: name, kind: 'agent' }], edges: [] },
      examples: [],
      resumable: false,
    }),
    async *run(input, context) {
      yield* entry.dialect === 'adk'
        ? runAdk(name, entry, host, input, context)
        : runAgUi(name, entry, host, input, context)
    },
  }
}

async function* runAgUi(
  name: string,
  entry: RemoteEntry,
  host: Host,
  input: RunInput,
  context: RunContext,
): AsyncGenerator<RunEvent> {
  const { session: threadId, run: runId, history, state, signal } = context
  const body = toRunAgentInput({ threadId, runId, input, history, state })
  yield* recorded(
    connect(entry.url, { dialect: agUi, host, body, run: runId, agent: name, signal, ...given(entry) }),
    entry.url,
  )
}

async function* runAdk(
  name: string,
  entry: RemoteEntry,
  host: Host,
  input: RunInput,
  context: RunContext,
): AsyncGenerator<RunEvent> {
  const { session, run, user, signal } = context
  const base = entry.url.replace(/\/(run_sse)?\/?$/, '')
  const app = entry.app ?? name
  await openSession(
    `${base}/apps/${encodeURIComponent(app)}/users/${encodeURIComponent(user)}/sessions/${encodeURIComponent(session)}`,
    entry,
    host,
    signal,
  )
  const parts: readonly AdkPart[] = input.messages
    .filter(({ role }) => role === 'user' || role === 'tool')
    .flatMap(({ content }) => content.parts ?? [])
  const answers = (input.resume ?? []).map(
    ({ interrupt, payload, status }): AdkPart => ({
      functionResponse: {
        id: interrupt,
        name: 'adk_request_confirmation',
        response: status === 'cancelled' ? { confirmed: false } : (payload as never),
      },
    }),
  )
  const body = {
    appName: app,
    userId: user,
    sessionId: session,
    newMessage: { role: 'user', parts: [...parts, ...answers] },
    streaming: true,
    ...(input.state === undefined ? {} : { stateDelta: input.state }),
  }
  yield* recorded(
    connect(`${base}/run_sse`, { dialect: adk, host, body, run, agent: name, signal, ...given(entry) }),
    entry.url,
  )
}

const given = ({ headers }: RemoteEntry) => (headers === undefined ? {} : { headers })

/** What the upstream said, without its `run.started`: this run has one. How the connection ended decides what is left. */
async function* recorded(connection: Connection, url: string): AsyncGenerator<RunEvent> {
  let over = false
  for await (const { event } of connection) {
    if (event.kind === 'run.started' || over) continue
    over = event.kind === 'run.finished'
    yield event
  }
  const { state } = connection
  if (over || state.phase !== 'closed' || state.how === 'aborted') return
  const why = state.problem?.message ?? 'the stream ended before the run did'
  throw new MillraceError('remote-error', `${new URL(url).host}: ${why}`, { source: state.problem?.source })
}

/** ADK wants a session made before it is run in; one that is there already is fine. */
async function openSession(url: string, { headers = {} }: RemoteEntry, host: Host, signal: AbortSignal): Promise<void> {
  const sent = { 'content-type': 'application/json', accept: 'application/json', ...headers }
  let status: number
  try {
    ;({ status } = await host.fetch(url, { method: 'POST', headers: sent, body: '{}', signal }))
  } catch (error) {
    throw new MillraceError(
      'remote-error',
      `${new URL(url).host} cannot be reached: ${error instanceof Error ? error.message : error}`,
    )
  }
  if (status >= 500 || status === 401 || status === 403)
    throw new MillraceError('remote-error', `${new URL(url).host} answered ${status} when asked for a session`)
}
