import type { Dialect } from '../dialect/dialect.ts'
import type { Problem } from '../event/problem.ts'
import type { Recorded } from '../event/run-event.ts'
import type { Signal } from '../log/event-log.ts'
import type { Host, RequestHeaders } from './host.ts'

/** The state of a connection. `closed` says how: an `ended` run, or a stream that was `cut`, `refused` or `aborted`. */
export type ConnectionState =
  | { readonly phase: 'connecting' }
  | { readonly phase: 'open' }
  | { readonly phase: 'waiting'; readonly attempt: number; readonly until: number; readonly reason: string }
  | { readonly phase: 'closed'; readonly how: 'ended' | 'cut' | 'refused' | 'aborted'; readonly problem?: Problem }

export interface ConnectOptions {
  readonly dialect: Dialect
  readonly host: Host
  /** With a body the stream is started by a POST, which is sent only once. Without it, the request is a GET. */
  readonly body?: unknown
  readonly headers?: RequestHeaders
  /** Resume after this seq. */
  readonly after?: number
  readonly signal?: Signal
  /** The run and agent for wires that name none. */
  readonly run?: string
  readonly agent?: string
  /** The URL to follow if the answer to the POST never arrives. An answer of Millrace names the URL itself. */
  readonly reattach?: string
  /** Go on after the end of a run, until aborted: follows the session instead of one run. */
  readonly follow?: boolean
  /**
   * After this many milliseconds without a byte, before the answer or within it, the connection counts as dead;
   * heartbeats are bytes too. By default 45,000 on a server that can be re-joined (three heartbeats of Millrace) and
   * 120,000 on others, because few of them send heartbeats and a tool may be slow.
   */
  readonly inactivity?: number
  /** Failed attempts in a row before giving up. */
  readonly maxAttempts?: number
  readonly onState?: (state: ConnectionState) => void
}

export interface Connection extends AsyncIterable<Recorded> {
  readonly state: ConnectionState
  /** The seq of the last complete event: pass it as `after` to go on later. */
  readonly cursor: number
  close(): void
}

/**
 * Says that this client joins the stream again after a cut, so that a closed connection is not taken for Stop. In
 * `accept`, because a page may send that header to any server without its permission.
 */
export const acceptRejoining = 'text/event-stream; rejoin=true'

/** The header in which Millrace names the URL where the stream can be re-joined after a cut. */
export const rejoinHeader = 'content-location'

/**
 * How long to wait before the next attempt: half a second, or the stream's own `retry:`, doubling up to 15 s, with jitter
 * so that the clients of a restarted server do not all come back at once.
 */
export function backoff(attempt: number, random: number, first = 500): number {
  return Math.min(longestWait, Math.max(shortestWait, first) * 2 ** Math.min(attempt - 1, 10)) * (0.5 + random / 2)
}
const shortestWait = 100
export const longestWait = 15_000

/**
 * The URL where an answer can be re-joined, if it names one. Other servers use the header for other things, so only the
 * URL of a session's stream counts. It must have the origin of the answer: the request headers may contain credentials,
 * which must not go to another server.
 */
export function rejoinUrl(place: string | null, from: string): string | undefined {
  if (place === null) return undefined
  const url = resolveUrl(place, from)
  if (!/^[^?#]*\/sessions\/[^/?#]+\/events(?:[?#]|$)/.test(url)) return undefined
  return originOf(url) === originOf(from) ? url : undefined
}

function originOf(url: string): string {
  return (/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i.exec(url)?.[0] ?? '').toLowerCase()
}

/** Resolves a relative reference against the URL it came from; core has no URL class. */
export function resolveUrl(reference: string, base: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(reference)) return reference
  const [, origin = '', path = '/'] = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)?([^?#]*)/i.exec(base) ?? []
  if (reference.startsWith('/')) return origin + reference
  const segments = path.split('/').slice(0, -1)
  let rest = reference
  for (;;) {
    if (rest.startsWith('../')) {
      if (segments.length > 1) segments.pop()
      rest = rest.slice(3)
    } else if (rest.startsWith('./')) rest = rest.slice(2)
    else break
  }
  return `${origin}${[...segments, rest].join('/')}`
}
