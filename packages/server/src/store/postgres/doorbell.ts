import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { betweenNotifications, LookPace, lookedAt, nextPayload, notifiedNames } from './bell-rules.ts'
import { type PgConnection, prepared } from './connection.ts'

/**
 * Tells the replicas that a session changed. A ring is only a hint, because every reader reads from its own cursor: one
 * that is lost, late or doubled changes nothing but the time that a reader waits.
 */
export interface Doorbell {
  /** This replica changed the session. */
  ring(session: string): void
  /** Looks at the sessions with followers soon, because one more has some. */
  watch(): void
  /** Resolves when all rings of this replica were sent. */
  close(): Promise<void>
}

export interface DoorbellDeps {
  readonly connection: PgConnection
  /** Names this replica, which need not hear its own rings. */
  readonly replica: string
  readonly channel: string
  /** The sessions with followers here, and the last seq that they could have seen. */
  readonly followed: () => ReadonlyMap<string, number>
  /** The session has changed up to this seq; undefined when that is not known. */
  readonly heard: (session: string, seq: number | undefined) => void
  readonly removed: (session: string) => void
}

const lastSeqs = prepared('SELECT id, last_seq FROM session WHERE id = ANY($1::text[])')
const tellOthers = prepared('SELECT pg_notify($1, $2)')

/** Until a lost connection is tried again, in ms. */
const again = 1000

/**
 * Looks at the sessions with followers, often while something happens and seldom while nothing does: one query for all
 * of them. With `notify`, other replicas say which sessions to look at, and the looking is a safety net.
 */
export function doorbell(deps: DoorbellDeps, notify: boolean): Doorbell {
  const { connection, followed, heard, removed } = deps
  let closed = false
  const pace = new LookPace()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  const bell = notify ? notifications(deps, () => closed) : undefined

  const look = async (): Promise<void> => {
    const known = followed()
    if (known.size === 0) return
    const rows = await connection.once(lastSeqs, [[...known.keys()]])
    const looked = lookedAt(known, new Map(rows.map(([id, seq]) => [String(id), Number(seq)])))
    for (const id of looked.removed) removed(id)
    for (const [id, seq] of looked.behind) heard(id, seq)
    if (looked.behind.length > 0) pace.quicken()
  }
  const next = (): void => {
    if (closed || timer !== undefined) return
    if (followed().size === 0) return
    const pause = pace.pause(bell?.listening() === true)
    timer = setTimeout(() => {
      timer = undefined
      pace.slow()
      looking = look()
        .catch(() => undefined) // the database is gone; the next look finds it again
        .then(next)
    }, pause)
    timer.unref()
  }
  return {
    ring: (session) => bell?.ring(session),
    watch: () => {
      pace.quicken()
      next()
    },
    close: async () => {
      closed = true
      clearTimeout(timer)
      await looking
      await bell?.close()
    },
  }
}

interface Notifications {
  ring(session: string): void
  /** Whether rings of others arrive. */
  listening(): boolean
  close(): Promise<void>
}

/**
 * LISTEN on a connection of its own, and one NOTIFY for all sessions that changed since the one before. The first change
 * goes at once. In a burst they gather for a moment, because every notification is a transaction of the database, and a
 * message to every replica.
 */
function notifications({ connection, replica, channel, heard }: DoorbellDeps, closed: () => boolean): Notifications {
  const changed = new Set<string>()
  let sending: Promise<void> | undefined
  let client: pg.Client | undefined
  let isListening = false
  let retry: NodeJS.Timeout | undefined

  const send = async (): Promise<void> => {
    await new Promise((resolve) => setImmediate(resolve)) // the changes of one turn go together
    while (changed.size > 0) {
      const payload = nextPayload(replica, changed)
      if (payload === undefined) continue
      await connection.once(tellOthers, [channel, payload]).catch(() => undefined)
      await pause(betweenNotifications)
    }
    sending = undefined
  }
  const listen = async (): Promise<void> => {
    const listener = new pg.Client(connection.config)
    client = listener
    const lost = (): void => {
      if (client !== listener) return
      isListening = false
      client = undefined
      listener.end().catch(() => undefined)
      if (closed()) return
      retry = setTimeout(() => void listen(), again)
      retry.unref()
    }
    listener.on('error', lost)
    listener.on('end', lost)
    listener.on('notification', ({ payload }) => {
      const [from, ...sessions] = notifiedNames(payload)
      if (from !== replica) for (const session of sessions) heard(session, undefined)
    })
    try {
      await listener.connect()
      await listener.query(`LISTEN "${channel}"`)
      isListening = true
    } catch {
      lost()
    }
  }
  void listen()
  return {
    ring: (session) => {
      changed.add(session)
      sending ??= send()
    },
    listening: () => isListening,
    close: async () => {
      clearTimeout(retry)
      await sending
      const last = client
      client = undefined
      await last?.end().catch(() => undefined)
    },
  }
}
