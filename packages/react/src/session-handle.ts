import {
  type Connection,
  type ConnectionState,
  connect,
  type Host,
  type LiveLog,
  liveLog,
  millrace,
  type RequestHeaders,
} from '@millrace/core'
import { sessionHistory } from './session-history.ts'

/** One session as a page sees it: its log, and the state of its connection. */
export interface SessionHandle {
  readonly id: string
  readonly log: LiveLog
  readonly state: ConnectionState
  subscribeState(listener: () => void): () => void
  /** Keeps the connection open until the returned function is called. The last release closes the connection. */
  retain(): () => void
  /** Loads the tokens that `bulk` left out: those of the run at a seq, or all of them. */
  fill(at?: number): Promise<void>
}

/** A handle on a session of a server. */
export interface ServerSession extends SessionHandle {
  /** Reconnects after a refused or lost connection if the session has readers; call it once the session may exist. */
  revive(): void
}

export interface SessionOptions {
  readonly url: string
  readonly host: Host
  readonly headers: RequestHeaders
  readonly schedule: (flush: () => void) => void
  /** The address of the session, from which its history is loaded in one request. Absent: event by event. */
  readonly bulk?: string
  /** Called when the last reader has released the session. */
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
  /** The session was created while a request for it was still pending, which may be refused. */
  let created = false

  const enter = (next: ConnectionState): void => {
    state = next
    for (const listener of [...listeners]) listener()
    if (next.phase === 'open') created = false
    if (next.phase === 'closed' && next.how === 'refused' && created && readers > 0) open()
  }
  const follow = async (live: Connection): Promise<void> => {
    for await (const row of live) {
      // A re-joined stream may repeat rows that we already have.
      if (row.seq <= cursor) continue
      cursor = row.seq
      log.append([row])
    }
  }
  const open = (): void => {
    opened = true
    created = false
    // A closed connection reports its end late, possibly after a new one has been opened: ignore it then.
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
    // While loading, the last reader may have left, or another call may have opened the connection.
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
      else if (connection?.state.phase === 'connecting') created = true
    },
    retain() {
      readers += 1
      if (!opened) void begin()
      let left = false
      return () => {
        if (left) return
        left = true
        readers -= 1
        // StrictMode unmounts and mounts again at once: closing waits one turn, so that nothing is loaded twice.
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
