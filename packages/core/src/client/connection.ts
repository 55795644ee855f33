import type { Dialect } from '../dialect/dialect.ts'
import type { Problem } from '../event/problem.ts'
import type { Recorded } from '../event/run-event.ts'
import type { Signal } from '../log/event-log.ts'
import type { Host } from './host.ts'

/** How a connection stands. `closed` always says how: an end is told from a cut. */
export type ConnectionState =
  | { readonly phase: 'connecting' }
  | { readonly phase: 'open' }
  | { readonly phase: 'waiting'; readonly attempt: number; readonly until: number; readonly reason: string }
  | { readonly phase: 'closed'; readonly how: 'ended' | 'cut' | 'refused' | 'aborted'; readonly problem?: Problem }

export interface ConnectOptions {
  readonly dialect: Dialect
  readonly host: Host
  /** With a body the stream is started by POST: once, ever. Without, it is a GET. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Resume after this seq. */
  readonly after?: number
  readonly signal?: Signal
  /** The run and agent for wires that name none. */
  readonly run?: string
  readonly agent?: string
  /** Where the run can be followed if the POST's answer never arrives; Millrace's answer names it itself. */
  readonly reattach?: string
  /** Go on after a run's end, until aborted: a session rather than a run. */
  readonly follow?: boolean
  /**
   * A connection silent for longer, before its answer or in it, is taken for dead; heartbeats count. Milliseconds; 45,000 (three of our heartbeats) on
   * a server that can be re-joined, 120,000 on others: few send a heartbeat, and a tool may take its time.
   */
  readonly inactivity?: number
  /** Failed attempts in a row before giving up. */
  readonly maxAttempts?: number
  readonly onState?: (state: ConnectionState) => void
}

export interface Connection extends AsyncIterable<Recorded> {
  readonly state: ConnectionState
  /** The last seq known to be whole: pass it as `after` to go on later. */
  readonly cursor: number
  close(): void
}

/** The answer names where the stream can be re-joined; only Millrace does, and only there a cut can be healed. */
export const rejoinHeader = 'content-location'

/**
 * Half a second, or what the stream asked for (`retry:`), doubling to 15 s, with jitter so that a restarted server is not
 * met by all its clients at once.
 */
export function backoff(attempt: number, random: number, first = 500): number {
  return Math.min(longestWait, Math.max(shortestWait, first) * 2 ** Math.min(attempt - 1, 10)) * (0.5 + random / 2)
}
const shortestWait = 100
export const longestWait = 15_000

/**
 * Where an answer says that it can be re-joined. Others use the header for other things, and only a session's stream can
 * be; and a server speaks for itself alone, so that nobody is sent to another with the first one's keys.
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
