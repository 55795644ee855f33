import type { EventLog, SessionInfo } from '@millrace/core'
import type { FastifyRequest } from 'fastify'
import type { HttpDeps } from '../deps.ts'
import { cursorOf } from '../stream.ts'
import { mayTouch } from './access.ts'

/** What a request that starts a run says about which one it means. */
export interface Meant {
  readonly agent: string
  readonly session: string | undefined
  /** The run that the URL itself names. */
  readonly run: string | undefined
}

/** Where a stream goes on. */
export interface Place {
  readonly session: string
  readonly run: string
  readonly after: number
}

/**
 * A request that may be a reconnect goes on with the run it has read, and never starts one. `over`: nothing is left to
 * send, or the run is not known here, and 204 tells a browser's EventSource to stop. `undefined`: it is a first request.
 *
 * A reconnect brings its URL and the last id alone. Where the URL names no session, the session has the id of its first
 * run, so that the run is found without an index, by another process too.
 */
export async function rejoin(
  { log }: Pick<HttpDeps, 'log'>,
  request: FastifyRequest,
  { agent, session, run: named }: Meant,
): Promise<Place | 'over' | undefined> {
  const cursor = cursorOf(request)
  const otherwise = cursor === undefined ? undefined : 'over'
  const id = session ?? cursor?.run ?? named
  const info = id === undefined ? undefined : await log.get(id)
  if (info === undefined || !mayTouch(request, info) || info.agent !== agent) return otherwise
  // A bare seq says nothing of a run: it is the latest of its session.
  const run = cursor?.run ?? named ?? (cursor === undefined ? undefined : info.lastRun)
  if (run === undefined) return otherwise
  if (cursor !== undefined && isLive(info, run)) return { session: info.id, run, after: cursor.seq }
  const { start, end } = await spanOf(log, info.id, run)
  if (start === undefined) return otherwise
  const after = cursor?.seq ?? start - 1
  return end !== undefined && end <= after ? 'over' : { session: info.id, run, after }
}

const isLive = ({ lastRun, status }: SessionInfo, run: string): boolean => lastRun === run && status === 'running'

async function spanOf(log: EventLog, session: string, run: string): Promise<{ start?: number; end?: number }> {
  const span: { start?: number; end?: number } = {}
  for (const row of await log.read(session, { after: 0, brief: true })) {
    if (row.run !== run) continue
    if (row.event.kind === 'run.started') span.start = row.seq
    else if (row.event.kind === 'run.finished') span.end = row.seq
  }
  return span
}
