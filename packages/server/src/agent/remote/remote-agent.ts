import {
  adk,
  agUi,
  type Dialect,
  defined,
  type Host,
  type RunEvent,
  type RunInput,
  toRunAgentInput,
} from '@millrace/core'
import { agentSession } from '@millrace/core/store'
import type { Agent, AgentDescription, EngineDescription, RunContext } from '../agent.ts'
import { protocolHeader } from '../protocol-header.ts'
import { adkCalls } from './adk-calls.ts'
import { openAdkSession, toRunRequest } from './adk-request.ts'
import { agUiCalls } from './ag-ui-calls.ts'
import { follow, truncatedAdk } from './follow.ts'
import type { RemoteEntry } from './remote-entry.ts'

/** What the engine says of itself in the description of each of its agents. */
export const remoteAbout: EngineDescription = { engine: 'remote', engineLabel: 'Remote' }

/**
 * An agent on another server: any AG-UI endpoint, or any ADK server. Millrace becomes its durable, multi-dialect front.
 * A message that may have run is never sent again: an upstream that was cut and cannot be rejoined fails the run.
 */
export function remoteAgent(name: string, entry: RemoteEntry, host: Host): Agent {
  return {
    name,
    describe: async () => describe(name, entry),
    run: (input, context) => {
      // To the other server all users of this one are the same caller.
      const own = { ...context, session: agentSession(context.session) }
      return entry.dialect === 'adk' ? runAdk(name, entry, host, input, own) : runAgUi(name, entry, host, input, own)
    },
  }
}

/** From the configuration alone: the other server may be down. The headers are left out, because they hold keys. */
function describe(name: string, { url, dialect, title, description, examples = [] }: RemoteEntry): AgentDescription {
  return {
    name,
    ...defined({ title }),
    description: description ?? `Runs on ${new URL(url).host}, over ${dialect === 'adk' ? 'ADK' : 'AG-UI'}`,
    ...remoteAbout,
    graph: { nodes: [{ id: name, kind: 'agent' }], edges: [] },
    examples,
    resumable: false,
  }
}

async function* runAgUi(
  name: string,
  entry: RemoteEntry,
  host: Host,
  input: RunInput,
  context: RunContext,
): AsyncGenerator<RunEvent> {
  const { session: threadId, run: runId, history, state } = context
  const body = toRunAgentInput({ threadId, runId, input, history, state })
  const calls = agUiCalls(name, input, context)
  const versioned = { ...entry, headers: { [protocolHeader]: '1.0', ...entry.headers } }
  // LangGraph's adapters end every run with the whole conversation, most of which is already in this log.
  const dialect: Dialect = { ...agUi, decoder: (options) => agUi.decoder({ ...options, sent: body.messages }) }
  yield* follow({ url: entry.url, dialect, body, name, entry: versioned, host, context, calls })
}

async function* runAdk(
  name: string,
  entry: RemoteEntry,
  host: Host,
  input: RunInput,
  context: RunContext,
): AsyncGenerator<RunEvent> {
  const base = entry.url.replace(/\/(run_sse)?\/?$/, '')
  const app = entry.app ?? name
  const made = await openAdkSession(base, app, entry, host, context)
  if (made && context.history.some(({ event }) => event.kind === 'agent')) {
    const message = `${new URL(base).host} did not know this session: the run continues without the earlier conversation`
    yield { kind: 'log', level: 'warn', message }
  }
  const body = toRunRequest(app, input, context, made)
  const [url, truncated, calls] = [`${base}/run_sse`, truncatedAdk(), adkCalls(input, context)]
  yield* follow({ url, dialect: adk, body, name, entry, host, context, truncated, calls })
}
