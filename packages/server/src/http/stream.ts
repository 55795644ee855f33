import { type Cursor, defined, MillraceError, readCursor, type StreamBase } from '@millrace/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { StartRequest } from '../run/run-engine.ts'
import type { HttpDeps, StartingSurface } from './deps.ts'
import { factsOf } from './doors/request-log.ts'
import { sseResponse } from './sse-sink.ts'

export interface StreamTarget {
  readonly session: string
  /** The name of a dialect, or of another format of the streams (AG-UI protobuf). */
  readonly dialect: string
  readonly run?: string
  readonly after?: number
  readonly from?: 'start' | 'live'
  readonly until?: 'idle'
  /** The start of the run, where the request has it. */
  readonly base?: StreamBase
  /** Ids name the run, for a browser that reconnects to the GET that started it. Only for `studio`. */
  readonly namesRun?: boolean
  /** Where the run waits for a person, go on with the run that comes after it. */
  readonly goesOn?: boolean
  /** Cancel the run when this reader leaves before its end. */
  readonly cancelOnDisconnect?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Serves a stream until it ends or the reader leaves; the run goes on without a reader (SPEC 4.2). The header
 * `content-location` says where to re-join, so that a client never has to start a run again to read the rest of it.
 */
export async function serveStream(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  target: StreamTarget,
): Promise<void> {
  const {
    session,
    dialect,
    run,
    after,
    from,
    until,
    base,
    namesRun = false,
    goesOn = false,
    cancelOnDisconnect = false,
    headers = {},
  } = target
  request.about = defined({ session, run })
  const { engine, streams } = deps.own(request)
  const detach = engine.attach(session)
  try {
    const place = rejoinPlace(request, target)
    // Hooks (CORS, helmet) have set headers on the reply; a hijacked response must carry them itself.
    const inherited = reply.getHeaders() as Record<string, string>
    reply.hijack()
    const { sink, signal } = sseResponse(reply.raw, {
      ...inherited,
      'content-location': place,
      vary: 'origin',
      ...headers,
    })
    deps.opened(request, reply)
    const end = await streams.open(
      session,
      { dialect: namesRun ? `${dialect}-run` : dialect, signal, goesOn, ...defined({ run, after, from, until, base }) },
      sink,
    )
    request.log.info({ ...factsOf(request), dialect, end }, 'stream')
    if (cancelOnDisconnect && run !== undefined && (end === 'left' || end === 'stalled')) {
      // The run that goes on after a question has another id.
      await engine.cancel(session, goesOn ? undefined : run)
    }
  } catch (error) {
    // After `hijack` no one else ends the response. The client sees a broken stream and comes back with its cursor.
    request.log.error({ err: error, ...factsOf(request), dialect }, 'stream failed')
    reply.raw.destroy()
  } finally {
    detach()
  }
}

/** How long to wait, in ms, for the reader of the active run: its socket may close just after the next request came. */
export const patience = 500

/**
 * Whether the run ends when the client of this request leaves: as the request says, else as its surface is set. A client
 * that joins again after a cut says so in `accept`.
 */
export function cancelsOnDisconnect({ disconnect }: HttpDeps, request: FastifyRequest): boolean {
  const asked = (request.query as { disconnect?: unknown }).disconnect
  if (asked === 'cancel' || asked === 'continue') return asked === 'cancel'
  if (asked !== undefined) throw new MillraceError('invalid', '?disconnect= must be `cancel` or `continue`')
  if (/;\s*rejoin=true\b/.test(request.headers.accept ?? '')) return false
  const surface = request.routeOptions.config.surface?.tag.toLowerCase() ?? ''
  return Object.hasOwn(disconnect, surface) && disconnect[surface as StartingSurface] === 'cancel'
}

/** Starts a run and streams it to the client that asked, from its `run.started` on. */
export async function serveRun(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  start: StartRequest,
  stream: Pick<StreamTarget, 'dialect' | 'headers' | 'namesRun' | 'goesOn'>,
): Promise<void> {
  const cancelOnDisconnect = cancelsOnDisconnect(deps, request)
  // The client is the run's first reader at once: a second start is then refused, and does not supersede this one.
  const { run, seq, base, leave } = await deps.own(request).engine.start({
    ...start,
    attach: true,
    patience,
    isGone: () => reply.raw.destroyed,
  })
  try {
    await serveStream(deps, request, reply, {
      session: start.session,
      run,
      after: seq - 1,
      base,
      cancelOnDisconnect,
      ...stream,
    })
  } finally {
    leave()
  }
}

/** A reference relative to the request, which works behind any path prefix and proxy. */
function rejoinPlace(request: FastifyRequest, { session, dialect, run }: StreamTarget): string {
  const depth = (request.url.split('?', 1)[0] ?? '/').split('/').length - 2
  const query = new URLSearchParams(defined({ dialect: rejoinDialect(dialect), run }))
  return `${'../'.repeat(Math.max(0, depth))}sessions/${encodeURIComponent(session)}/events?${query}`
}

/**
 * Protobuf has no field for a cursor, so a protobuf stream is re-joined as the SSE of its dialect. The form for ADK
 * Studio's page is only for that page.
 */
const rejoinDialect = (wire: string): string => wire.replace(/-(protobuf|page)$/, '')

/** The cursor of a resumed stream: `Last-Event-ID`, else `?after=`. A malformed one is a 400, never a replay. */
export function cursorOf(request: FastifyRequest): Cursor | undefined {
  const header = request.headers['last-event-id']
  const text = header ?? (request.query as { after?: unknown }).after
  if (text === undefined || text === '') return undefined
  const cursor = typeof text === 'string' ? readCursor(text) : undefined
  if (cursor === undefined)
    throw new MillraceError('invalid', 'Last-Event-ID (or ?after=) must be a sequence number, or `run:number`')
  return cursor
}
