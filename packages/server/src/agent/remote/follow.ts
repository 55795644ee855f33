import {
  connect,
  type Dialect,
  defined,
  type Host,
  type Problem,
  type RunEvent,
  type RunFinished,
} from '@millrace/core'
import type { RunContext } from '../agent.ts'
import type { RemoteCalls } from './remote-calls.ts'
import type { RemoteEntry } from './remote-entry.ts'
import { stoppable } from './stoppable.ts'

/** Milliseconds that the other server may be silent. Most send no heartbeat, and a tool may take long. */
export const silence = 120_000

/** Attempts in a row to rejoin a Millrace that went away: half a minute with the pauses between them. */
const attempts = 6

export interface RemoteRun {
  readonly url: string
  readonly dialect: Dialect
  readonly body: object
  readonly name: string
  readonly entry: RemoteEntry
  readonly host: Host
  readonly context: RunContext
  readonly truncated?: Truncation
  /** Makes records of the model calls that the wire shows. */
  readonly calls: RemoteCalls
}

/** For dialects without a final event: whether a stream that ended was complete. */
export interface Truncation {
  take(event: RunEvent): void
  /** Why it was not complete. */
  why(): string | undefined
}

/**
 * One POST, and the events of its answer without `run.started`, because this run already has one. The upstream's
 * `run.finished` is held until the connection has ended: only then it is clear whether the stream was complete.
 */
export async function* follow(run: RemoteRun): AsyncGenerator<RunEvent> {
  const { url, dialect, body, name, entry, context, truncated, calls } = run
  const { headers, timeout = silence } = entry
  const upstream = stoppable(run.host, headers)
  const connection = connect(url, {
    dialect,
    host: upstream.host,
    body,
    run: context.run,
    agent: name,
    signal: context.signal,
    inactivity: timeout,
    maxAttempts: attempts,
    ...defined({ headers }),
  })
  let last: RunFinished | undefined
  for await (const { event } of connection) {
    if (event.kind === 'run.started' || last !== undefined) continue
    if (event.kind === 'run.finished') {
      last = event
      continue
    }
    truncated?.take(event)
    yield* calls.take(ofRun(event, context.run))
  }
  const { state } = connection
  if (last === undefined) upstream.stop()
  if (context.signal.aborted) return
  const ended = state.phase === 'closed' && state.how === 'ended'
  const seemsWhole = last?.outcome === 'done' || (ended && last?.error?.code === 'cut')
  const cut = seemsWhole ? truncated?.why() : undefined
  const isWhole = ended && cut === undefined
  const end =
    isWhole && last !== undefined ? last : failed(url, state.phase === 'closed' ? state.problem : undefined, cut)
  yield* calls.end(end.error)
  yield end
}

/** The invocation is the run here: the other server's id is on none of the messages and spans of this one. */
function ofRun(event: RunEvent, run: string): RunEvent {
  return event.kind === 'agent' ? { ...event, event: { ...event.event, invocationId: run } } : event
}

function failed(url: string, problem: Problem | undefined, cut: string | undefined): RunFinished {
  const why = cut ?? problem?.message ?? 'the stream ended before the run did'
  return {
    kind: 'run.finished',
    outcome: 'failed',
    error: { code: 'remote-error', message: `${new URL(url).host}: ${why}`, ...defined({ source: problem?.source }) },
  }
}

/**
 * An ADK server's stream has no final event, so a proxy that cuts it cleanly looks like success. The stream is incomplete
 * if its last event is a delta (its aggregate always follows) or an unanswered call, or if no event came at all.
 */
export function truncatedAdk(): Truncation {
  let last: Extract<RunEvent, { kind: 'agent' }>['event'] | undefined
  let unread: string | undefined
  return {
    take(event) {
      if (event.kind === 'agent') last = event.event
      else if (event.kind === 'foreign') unread ??= event.reason
    },
    why() {
      if (last === undefined)
        return unread === undefined ? 'it sent no event' : `nothing it sent is an ADK event: ${unread}`
      if (last.partial === true) return 'the stream ended in the middle of an answer'
      const waits = last.longRunningToolIds ?? []
      const open = (last.content?.parts ?? []).flatMap(({ functionCall: call }) =>
        call === undefined || waits.includes(call.id ?? '') ? [] : [call.name],
      )
      return open.length === 0 ? undefined : `the stream ended before ${open.join(', ')} had answered`
    },
  }
}

/** The message with the cause: `fetch failed` alone does not say why. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error ? `${error.message} (${'code' in cause ? cause.code : cause.message})` : error.message
}
