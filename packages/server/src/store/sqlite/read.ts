import type {
  EventLog,
  FollowOptions,
  HeldLease,
  Lease,
  RawRecorded,
  ReadOptions,
  SessionInfo,
  SessionQuery,
  UserFigures,
} from '@millrace/core'
import { checkCursor, type FollowSource, followRows, pageSize } from '@millrace/core/store'
import { ownTurn } from '../../thread/turns.ts'
import { recordedOf } from '../recorded.ts'
import { notFound } from '../refusals.ts'
import { infoOf, statusText } from '../session-info-row.ts'
import type { Tail, Tails } from '../tail.ts'
import { type BriefPage, briefRows } from './brief-rows.ts'
import type { Bound, ReadConnection } from './connection.ts'
import { eventPages, type RowsPlace } from './event-row.ts'
import { type FactsDeps, sqliteFacts } from './facts.ts'
import { infoColumns, type SessionRow } from './session-row.ts'
import { partsColumn, sharedPartsIn } from './shared-rows.ts'
import type { UsageCounts } from './usage.ts'

/** What reading a session's rows needs to know about it. */
interface SessionPlace extends RowsPlace {
  readonly lastSeq: number
  readonly partials: number
}

type Reads = Required<
  Pick<
    EventLog,
    | 'get'
    | 'list'
    | 'users'
    | 'usage'
    | 'read'
    | 'readRaw'
    | 'follow'
    | 'followRaw'
    | 'facts'
    | 'checkpoint'
    | 'startOf'
    | 'expired'
    | 'heldBy'
  >
>

export interface ReadDeps {
  readonly reader: ReadConnection
  readonly tails: Tails
  readonly now: () => number
  /** Throws once the log is closed. */
  readonly checkOpen: () => void
  /** The committed row of a session, if it is in memory: the sessions with active runs are, so they need no query. */
  readonly known: (id: string) => SessionRow | undefined
  readonly due: FactsDeps['due']
  readonly usage: Pick<UsageCounts, 'of'>
}

/** The reading half of the log, on its own connection. */
export function sqliteReads({ reader, tails, now, checkOpen, known, due, usage }: ReadDeps): Reads {
  const info = reader.prepare(`SELECT ${infoColumns} FROM session s WHERE s.name = ?`)
  const search = placeFinder(reader)
  const find = (id: string): SessionPlace | undefined => {
    const session = known(id)
    return session === undefined ? search(id) : placeOf(session)
  }
  const place = (id: string): SessionPlace => {
    checkOpen()
    const found = find(id)
    if (found === undefined) throw notFound(id)
    return found
  }
  const pages = eventPages(reader)
  const briefly = briefRows(reader)
  const list = sessionList(reader)
  const users = userList(reader)
  const dead = deadRunFinder(reader)
  const held = heldLeaseFinder(reader)

  /** Reads up to the row that was last when the read began, page by page, and gives other work a turn in between. */
  const rows = async <T>(
    id: string,
    { after, limit, text = Number.POSITIVE_INFINITY, brief = false }: ReadOptions,
    of: (row: RawRecorded) => T,
  ): Promise<T[]> => {
    checkCursor(after)
    const start = place(id)
    // Finding what to leave out takes as long as reading it, so it pays only where most rows are partials.
    const next =
      brief && start.parts.length === 0 && start.partials * 2 > start.lastSeq
        ? briefly(start.key, after)
        : (from: number, most: number) => pageOf(pages.next(start, from, most))
    const all: T[] = []
    let cursor = after
    let left = limit ?? Number.POSITIVE_INFINITY
    let size = 0
    while (left > 0 && size < text && cursor < start.lastSeq) {
      const page = next(cursor, left)
      if (page === undefined) {
        // The session was removed after its place was found; it must not look like a short one. The file is asked, because
        // the row in memory stays for a moment after a removal was committed on another thread.
        if (search(id)?.key !== start.key) throw notFound(id)
        break
      }
      for (const row of page.rows) {
        all.push(of(row))
        size += row.body.length
      }
      cursor = page.cursor
      left -= page.rows.length
      if (left > 0 && size < text && cursor < start.lastSeq) {
        await ownTurn()
        if (place(id).key !== start.key) throw notFound(id)
      }
    }
    return all
  }
  /** Takes new rows from the tail and older ones from the file. */
  const following = <T extends { readonly seq: number }>(
    id: string,
    { after, signal }: FollowOptions,
    live: (tail: Tail, after: number) => readonly T[] | undefined,
    of: (row: RawRecorded) => T,
  ): AsyncIterable<readonly T[]> => {
    const open = (): FollowSource<T> => {
      checkCursor(after)
      const { key } = place(id)
      const stored = (cursor: number): readonly T[] => {
        const now = find(id) // the session may be removed already, before the tail has ended
        return now?.key === key && cursor < now.lastSeq ? pages.next(now, cursor, Infinity).map(of) : []
      }
      return sourceOf(id, tails, live, stored)
    }
    return followRows(open, after, signal)
  }
  return {
    get: async (id) => {
      checkOpen()
      const session = known(id)
      if (session !== undefined) return session.info
      const [row] = info([id])
      return row === undefined ? undefined : infoOf(row)
    },
    list: async (query) => {
      checkOpen()
      return list(query)
    },
    users: async (query) => {
      checkOpen()
      return users(query)
    },
    usage: async (user) => {
      checkOpen()
      return usage.of(user)
    },
    read: (id, options) => rows(id, options, recordedOf),
    readRaw: (id, options) => rows(id, options, (row) => row),
    ...sqliteFacts({ reader, pages, place, due }),
    follow: (id, options) => following(id, options, (tail, after) => tail.after(after), recordedOf),
    followRaw: (id, options) =>
      following(
        id,
        options,
        (tail, after) => tail.rawAfter(after),
        (row) => row,
      ),
    expired: async (owner) => {
      checkOpen()
      return dead(now(), owner)
    },
    heldBy: async (owner) => {
      checkOpen()
      return held(owner)
    },
  }
}

function pageOf(rows: readonly RawRecorded[]): BriefPage | undefined {
  const last = rows.at(-1)
  return last === undefined ? undefined : { rows, cursor: last.seq }
}

function sourceOf<T>(
  id: string,
  tails: Tails,
  live: (tail: Tail, after: number) => readonly T[] | undefined,
  stored: (after: number) => readonly T[],
): FollowSource<T> {
  let tail: Tail | undefined
  return {
    subscribe: (wake) => {
      tail = tails.subscribe(id, wake)
      return tail.leave
    },
    ended: () => tail?.ended() === true,
    next: (after) => {
      if (tail === undefined || tail.ended()) return []
      return live(tail, after) ?? stored(after)
    },
  }
}

function placeOf({ key, widest, partials, parts, info }: SessionRow): SessionPlace {
  return { key, widest, partials, parts, lastSeq: info.lastSeq }
}

function placeFinder(reader: ReadConnection): (id: string) => SessionPlace | undefined {
  const select = reader.prepare(
    `SELECT s.id, s.widest, s.last_seq, s.partials, ${partsColumn} FROM session s WHERE s.name = ?`,
  )
  return (id) => {
    const [row] = select([id])
    if (row === undefined) return undefined
    const [key, widest, lastSeq, partials, parts] = row
    return {
      key: Number(key),
      widest: Number(widest),
      lastSeq: Number(lastSeq),
      partials: Number(partials),
      parts: sharedPartsIn(parts),
    }
  }
}

function sessionList(reader: ReadConnection): (query: SessionQuery) => { sessions: SessionInfo[]; total: number } {
  const filter = `(?2 IS NULL OR s.agent = ?2) AND (?3 IS NULL OR s.status IN (SELECT value FROM json_each(?3))) AND (?4 IS NULL OR instr(s.search, ?4) > 0)`
  const select = (whose: string) => ({
    page: reader.prepare(
      `SELECT ${infoColumns} FROM session s WHERE ${whose} AND ${filter}
       ORDER BY s.updated_at DESC, s.name DESC LIMIT ?5 OFFSET ?6`,
    ),
    count: reader.prepare(`SELECT count(*) FROM session s WHERE ${whose} AND ${filter}`),
  })
  const one = select('s.user = ?1') // a separate query, so that SQLite uses the index
  const aside = select('?1 IS NULL AND substr(s.user, 1, 1) = char(30)')
  const all = select('?1 IS NULL AND substr(s.user, 1, 1) <> char(30)')
  return (query) => {
    const { user, agent, search, aside: isAside, limit, offset = 0 } = query
    const by: readonly Bound[] = [user ?? null, agent ?? null, statusText(query), search?.toLowerCase() ?? null]
    const { page, count } = user !== undefined ? one : isAside === true ? aside : all
    const sessions = page([...by, pageSize(limit), Math.max(0, Math.floor(offset))]).map(infoOf)
    return { sessions, total: Number(count(by)[0]?.[0]) }
  }
}

function userList(reader: ReadConnection): (query: { limit?: number; offset?: number }) => {
  users: readonly UserFigures[]
  total: number
} {
  const page = reader.prepare(
    `SELECT user, count(*), sum(events), max(updated_at) FROM session WHERE substr(user, 1, 1) <> char(30)
     GROUP BY user ORDER BY user LIMIT ? OFFSET ?`,
  )
  const count = reader.prepare('SELECT count(DISTINCT user) FROM session WHERE substr(user, 1, 1) <> char(30)')
  return ({ limit, offset = 0 }) => {
    const rows = page([pageSize(limit), Math.max(0, Math.floor(offset))])
    const users = rows.map(([user, sessions, events, updatedAt]) => ({
      user: String(user),
      sessions: Number(sessions),
      events: Number(events),
      updatedAt: Number(updatedAt),
    }))
    return { users, total: Number(count([])[0]?.[0]) }
  }
}

function deadRunFinder(reader: ReadConnection): (now: number, owner: string | undefined) => readonly Lease[] {
  const select = reader.prepare(
    `SELECT s.name, l.run, l.owner, l.epoch, l.until FROM lease l JOIN session s ON s.id = l.session
     WHERE l.until <= ?1 OR l.owner = ?2
     UNION ALL
     SELECT s.name, s.last_run, '', s.epoch, 0 FROM session s
     WHERE s.status = 'running' AND NOT EXISTS (SELECT 1 FROM lease l WHERE l.session = s.id AND l.run = s.last_run)`,
  )
  return (now, owner) => select([now, owner ?? null]).map(leaseOf)
}

function heldLeaseFinder(reader: ReadConnection): (owner: string) => readonly HeldLease[] {
  const select = reader.prepare(
    `SELECT s.name, l.run, l.owner, l.epoch, l.until, s.user, (
       SELECT count(DISTINCT o.id) FROM lease m JOIN session o ON o.id = m.session WHERE o.user = s.user)
     FROM lease l JOIN session s ON s.id = l.session WHERE l.owner = ?1 ORDER BY l.until`,
  )
  return (owner) => select([owner]).map((row) => ({ ...leaseOf(row), user: String(row[5]), leased: Number(row[6]) }))
}

function leaseOf([session, run, owner, epoch, until]: readonly unknown[]): Lease {
  return {
    session: String(session),
    run: String(run),
    owner: String(owner),
    epoch: Number(epoch),
    until: Number(until),
  }
}
