import { connect, type Dialect, type Host, type Problem, type RunEvent, type RunFinished } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import type { RemoteEntry } from './remote-entry.ts'
import { stoppable } from './stoppable.ts'

/** How long a server elsewhere may say nothing. Most send no heartbeat, and a tool may take its time. */
export const silence = 120_000

/** Attempts in a row to re-join a Millrace that is gone: half a minute, with the pauses between them. */
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
}

/** For wires without a last word: whether a stream that ended had really said all. */
export interface Truncation {
  take(event: RunEvent): void
  why(): string | undefined
}

/**
 * One POST, and what comes back, without its `run.started`: this run has one. The upstream's last word is held until
 * the connection has ended, because how it ended decides whether that word is true.
 */
export async function* follow(run: RemoteRun): AsyncGenerator<RunEvent> {
  const { url, dialect, body, name, entry, context, truncated } = run
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
    ...(headers === undefined ? {} : { headers }),
  })
  let last: RunFinished | undefined
  for await (const { event } of connection) {
    if (event.kind === 'run.started' || last !== undefined) continue
    if (event.kind === 'run.finished') {
      last = event
      continue
    }
    truncated?.take(event)
    yield event
  }
  const { state } = connection
  if (last === undefined) upstream.stop()
  if (context.signal.aborted) return
  const cut = last?.outcome === 'done' ? truncated?.why() : undefined
  if (state.phase === 'closed' && state.how === 'ended' && last !== undefined && cut === undefined) yield last
  else yield failed(url, state.phase === 'closed' ? state.problem : undefined, cut)
}

function failed(url: string, problem: Problem | undefined, cut: string | undefined): RunFinished {
  const why = cut ?? problem?.message ?? 'the stream ended before the run did'
  const source = problem?.source === undefined ? {} : { source: problem.source }
  return {
    kind: 'run.finished',
    outcome: 'failed',
    error: { code: 'remote-error', message: `${new URL(url).host}: ${why}`, ...source },
  }
}

/**
 * An ADK server's stream just ends, so a proxy that cuts it cleanly looks like success. It is not when the last event is
 * a delta (its aggregate always follows), a call that nobody answered, or when no event came at all.
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

/** `fetch failed` alone helps nobody: what made it fail is its cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error ? `${error.message} (${'code' in cause ? cause.code : cause.message})` : error.message
}
