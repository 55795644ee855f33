import type { SessionInfo } from '@millrace/core'
import type { FastifyRequest } from 'fastify'
import type { HttpDeps } from '../deps.ts'
import type { OwnLog } from '../own-sessions.ts'
import { cursorOf } from '../stream.ts'

/** Rows that are read at once. */
const page = 500

/** The run that a request asks for, as far as the request names it. */
export interface RequestedRun {
  readonly agent: string
  readonly session: string | undefined
  /** The run that the URL names. */
  readonly run: string | undefined
}

/** Where a stream continues. */
export interface RejoinPlace {
  readonly session: string
  readonly run: string
  readonly after: number
}

/**
 * Finds the place where a request that may be a reconnect continues; such a request never starts a run. `over` means
 * that nothing is left to send or that the run is unknown; the answer is a 204, which makes a browser's EventSource
 * stop. `undefined` means that this is a first request.
 *
 * A reconnect brings only its URL and the last id. Where the URL names no session, the session has the id of its first
 * run, so that any process finds the run without an index.
 */
export async function rejoin(
  deps: Pick<HttpDeps, 'own'>,
  request: FastifyRequest,
  { agent, session, run: named }: RequestedRun,
): Promise<RejoinPlace | 'over' | undefined> {
  const { log } = deps.own(request)
  const cursor = cursorOf(request)
  const otherwise = cursor === undefined ? undefined : 'over'
  const id = session ?? cursor?.run ?? named
  const info = id === undefined ? undefined : await log.get(id)
  if (info?.agent !== agent) return otherwise
  // A cursor without a run means the latest run of the session.
  const run = cursor?.run ?? named ?? (cursor === undefined ? undefined : info.lastRun)
  if (run === undefined) return otherwise
  if (cursor !== undefined && isLive(info, run)) return { session: info.id, run, after: cursor.seq }
  const { start, end } = await spanOf(log, info.id, run)
  if (start === undefined) return otherwise
  const after = cursor?.seq ?? start - 1
  return end !== undefined && end <= after ? 'over' : { session: info.id, run, after }
}

const isLive = ({ lastRun, status }: SessionInfo, run: string): boolean => lastRun === run && status === 'running'

/** Where a run starts, and where it ends, if it has ended. A run that waits for a person goes on in the run after it. */
async function spanOf(log: OwnLog, session: string, run: string): Promise<{ start?: number; end?: number }> {
  const start = await log.startOf(session, run)
  if (start === undefined) return {}
  let current: string | undefined = run
  for (let after = start; ; ) {
    const rows = await log.read(session, { after, limit: page })
    for (const { seq, run: own, event } of rows) {
      if (event.kind === 'run.started' && current === undefined) current = own
      if (own !== current || event.kind !== 'run.finished') continue
      if (event.outcome !== 'interrupted') return { start, end: seq }
      current = undefined
    }
    const last = rows.at(-1)
    if (last === undefined) return { start }
    after = last.seq
  }
}
