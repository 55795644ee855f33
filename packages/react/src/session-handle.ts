import {
  type Connection,
  type ConnectionState,
  connect,
  type Host,
  type LiveLog,
  liveLog,
  millrace,
} from '@millrace/core'
import { sessionHistory } from './session-history.ts'

/** One session as a page sees it: its log, and how the connection to it stands. */
export interface SessionHandle {
  readonly id: string
  readonly log: LiveLog
  readonly state: ConnectionState
  subscribeState(listener: () => void): () => void
  /** Keeps the connection open until the result is called; the last one to leave closes it. */
  retain(): () => void
  /** Brings the tokens that `bulk` left out: of the run around a moment, or all of them. */
  fill(at?: number): Promise<void>
}

/** A handle on a session of a server. */
export interface ServerSession extends SessionHandle {
  /** The session may be there by now: one that was refused or lost is asked for again, if anybody reads it. */
  revive(): void
}

export interface SessionOptions {
  readonly url: string
  readonly host: Host
  readonly headers: Readonly<Record<string, string>>
  readonly schedule: (flush: () => void) => void
  /** Where its whole history is read in one go first; absent: event by event. */
  readonly bulk?: string
  /** Nobody reads it any more. */
  readonly forget: () => void
}

export function openSession(id: string, options: SessionOptions): ServerSession {
  const { url, host, headers, schedule, bulk, forget } = options
  const log = liveLog(schedule)
  const history = bulk === undefined ? undefined : sessionHistory(bulk, { host, headers, log })
  const listeners = new Set<() => void>()
  let state: ConnectionState = { phase: 'connecting' }
  let connection: Connection | undefined
  let opened = false
  let readers = 0
  let cursor = 0
  let loading: Promise<number> | undefined
  /** The session was made while we were being told that there is none. */
  let made = false

  const enter = (next: ConnectionState): void => {
    state = next
    for (const listener of [...listeners]) listener()
    if (next.phase === 'open') made = false
    if (next.phase === 'closed' && next.how === 'refused' && made && readers > 0) open()
  }
  const follow = async (live: Connection): Promise<void> => {
    for await (const row of live) {
      // A re-join may begin before what we have: rows are numbered, so what is known is known.
      if (row.seq <= cursor) continue
      cursor = row.seq
      log.append([row])
    }
  }
  const open = (): void => {
    opened = true
    made = false
    // One that was left tells of its end when another may have begun.
    const onState = (next: ConnectionState): void => {
      if (connection === undefined || connection === live) enter(next)
    }
    const live = connect(url, { dialect: millrace, host, follow: true, after: cursor, onState, headers })
    connection = live
    void follow(live)
  }
  const begin = async (): Promise<void> => {
    opened = true
    if (history !== undefined && cursor === 0) {
      loading ??= history.load()
      cursor = Math.max(cursor, await loading)
      loading = undefined
    }
    // Meanwhile the last reader may have left, or another begun.
    if (opened && connection === undefined) open()
  }
  return {
    id,
    log,
    get state() {
      return state
    },
    subscribeState(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    revive() {
      if (readers > 0 && connection?.state.phase === 'closed') open()
      else if (connection?.state.phase === 'connecting') made = true
    },
    retain() {
      readers += 1
      if (!opened) void begin()
      let left = false
      return () => {
        if (left) return
        left = true
        readers -= 1
        // StrictMode leaves and comes back at once: closing waits a turn, so that nothing is read twice.
        host.after(0, () => {
          if (readers > 0) return
          connection?.close()
          connection = undefined
          opened = false
          forget()
        })
      }
    },
    fill: async (at) => history?.fill(at),
  }
}
