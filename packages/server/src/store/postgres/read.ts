import type { EventLog, FollowOptions, HeldLease, Lease, RawRecorded, ReadOptions, SessionQuery } from '@millrace/core'
import { checkCursor, type FollowSource, followRows, pageSize } from '@millrace/core/store'
import { recordedOf } from '../recorded.ts'
import { notFound } from '../refusals.ts'
import { rowKindNumbers } from '../row-kind.ts'
import { heldIn, infoOf, statusesFor } from '../session-info-row.ts'
import type { Tail, Tails } from '../tail.ts'
import type { PgConnection, Query, Value } from './connection.ts'
import { rawColumns, rawOf } from './event-row.ts'
import type { ReadStarts } from './read-starts.ts'
import { pgInfoColumns } from './session-row.ts'
import { type PgPart, pgPartsIn } from './shared-rows.ts'

/** What reading a session's rows needs to know about it. */
export interface SessionPlace {
  readonly born: string
  readonly widest: number
  readonly lastSeq: number
  readonly partials: number
  /** The rows that it shares, and their text in the database, which changes when an origin is removed. */
  readonly parts: readonly PgPart[]
  readonly partsText: string
}

type Reads = Required<
  Pick<
    EventLog,
    'get' | 'list' | 'users' | 'usage' | 'read' | 'readRaw' | 'follow' | 'followRaw' | 'startOf' | 'expired' | 'heldBy'
  >
>

export interface PgReadDeps {
  readonly connection: PgConnection
  readonly tails: Tails
  readonly now: () => number
  /** Throws once the log is closed. */
  readonly checkOpen: () => void
  /** Called when somebody begins to follow a session: the doorbell has to watch it. */
  readonly watch: () => void
  readonly starts: ReadStarts
}

/** The most rows and bytes of a page. The limit on bytes matters because a slow reader holds a page in memory. */
const pageRows = 500
const pageText = 2 ** 20

export function postgresReads({ connection, tails, now, checkOpen, watch, starts }: PgReadDeps): Reads {
  const { query } = connection
  const rows = async <T>(
    id: string,
    { after, limit, brief = false, text = Number.POSITIVE_INFINITY }: ReadOptions,
    of: (row: RawRecorded) => T,
  ): Promise<T[]> => {
    checkCursor(after)
    checkOpen()
    const start = await starts.add(id, placeOf(query, id))
    const all: T[] = []
    let cursor = after
    let left = limit ?? Number.POSITIVE_INFINITY
    let size = 0
    // Finding what to leave out takes as long as reading it, so it pays only where most rows are partials.
    const isWorth = brief && start.parts.length === 0 && start.partials * 2 > start.lastSeq
    const which = isWorth ? needed : ''
    while (left > 0 && size < text && cursor < start.lastSeq) {
      checkOpen()
      const page = await pageOf(query, id, start, cursor, left, which)
      const last = page.at(-1)
      if (last === undefined) {
        // The session was removed after its place was found; it must not look like a short one.
        if ((await placeOf(query, id)).born !== start.born) throw notFound(id)
        break
      }
      for (const row of page) {
        if (row.seq > start.lastSeq) break
        all.push(of(row))
        size += row.body.length
      }
      cursor = last.seq
      left -= page.length
    }
    return all
  }
  /** Takes new rows of this process from the tail, and all others from the database. */
  const following = <T extends { readonly seq: number }>(
    id: string,
    { after, signal }: FollowOptions,
    live: (tail: Tail, after: number) => readonly T[] | undefined,
    of: (row: RawRecorded) => T,
  ): AsyncIterable<readonly T[]> => {
    const open = (): FollowSource<T> => {
      checkCursor(after)
      checkOpen()
      let tail: Tail | undefined
      let born: string | undefined
      return {
        subscribe: (wake) => {
          tail = tails.subscribe(id, wake)
          watch()
          return tail.leave
        },
        ended: () => tail?.ended() === true,
        next: async (cursor) => {
          if (tail === undefined || tail.ended()) return []
          const first = born === undefined
          const recent = first ? undefined : live(tail, cursor)
          if (recent !== undefined) return recent
          const place = await findPlace(query, id)
          if (place === undefined && first) throw notFound(id)
          born ??= place?.born
          if (place === undefined || place.born !== born) {
            tails.end(id) // removed, perhaps by another replica
            return []
          }
          if (cursor >= place.lastSeq) return []
          return (await pageOf(query, id, place, cursor, Number.POSITIVE_INFINITY)).map(of)
        },
      }
    }
    return followRows(open, after, signal)
  }
  return {
    get: async (id) => {
      checkOpen()
      const [row] = await query(`SELECT ${pgInfoColumns} FROM session s WHERE s.id = $1`, [id])
      return row === undefined ? undefined : infoOf(row)
    },
    list: async (wanted) => {
      checkOpen()
      return list(query, wanted)
    },
    users: async ({ limit, offset = 0 }) => {
      checkOpen()
      const page = await query(
        `SELECT user_name, count(*), sum(events)::bigint, max(updated_at) FROM session
         WHERE left(user_name, 1) <> chr(30) GROUP BY user_name ORDER BY user_name LIMIT $1 OFFSET $2`,
        [pageSize(limit), Math.max(0, Math.floor(offset))],
      )
      const [[total] = []] = await query(
        'SELECT count(DISTINCT user_name) FROM session WHERE left(user_name, 1) <> chr(30)',
      )
      const users = page.map(([user, sessions, events, updatedAt]) => ({
        user: String(user),
        sessions: Number(sessions),
        events: Number(events),
        updatedAt: Number(updatedAt),
      }))
      return { users, total: Number(total) }
    },
    usage: async (user) => {
      checkOpen()
      const columns = 'SELECT count(*), coalesce(sum(size), 0)::bigint FROM session'
      const [[sessions, bytes] = []] = await (user === undefined
        ? query(columns)
        : query(`${columns} WHERE user_name = $1`, [user]))
      return { sessions: Number(sessions), bytes: Number(bytes) }
    },
    read: (id, options) => rows(id, options, recordedOf),
    readRaw: (id, options) => rows(id, options, (row) => row),
    follow: (id, options) => following(id, options, (tail, after) => tail.after(after), recordedOf),
    followRaw: (id, options) =>
      following(
        id,
        options,
        (tail, after) => tail.rawAfter(after),
        (row) => row,
      ),
    startOf: async (id, run) => {
      checkOpen()
      return startIn(query, id, await placeOf(query, id), run)
    },
    expired: async (owner) => {
      checkOpen()
      return deadRuns(query, now(), owner)
    },
    heldBy: async (owner) => {
      checkOpen()
      return heldLeases(query, owner)
    },
  }
}

export async function placeOf(query: Query, id: string): Promise<SessionPlace> {
  const place = await findPlace(query, id)
  if (place === undefined) throw notFound(id)
  return place
}

async function findPlace(query: Query, id: string): Promise<SessionPlace | undefined> {
  const [row] = await query('SELECT born, widest, last_seq, partials, parts FROM session WHERE id = $1', [id])
  if (row === undefined) return undefined
  const [born, widest, lastSeq, partials, parts] = row
  const partsText = String(parts)
  return {
    born: String(born),
    widest: Number(widest),
    lastSeq: Number(lastSeq),
    partials: Number(partials),
    parts: pgPartsIn(partsText),
    partsText,
  }
}

/** The place, if the origins of the session are other ones now: one was removed, and its rows are elsewhere. */
async function movedPlace(query: Query, id: string, place: SessionPlace): Promise<SessionPlace | undefined> {
  const now = await findPlace(query, id)
  return now === undefined || now.born !== place.born || now.partsText === place.partsText ? undefined : now
}

async function startIn(query: Query, id: string, place: SessionPlace, run: string): Promise<number | undefined> {
  for (const { origin, upTo } of place.parts) {
    const [[seq] = []] = await query(
      `SELECT e.seq FROM session s JOIN event e ON e.session = $3 WHERE s.id = $1 AND s.parts = $2
         AND e.run = $4 AND e.kind = ${rowKindNumbers.start} AND e.seq <= $5 ORDER BY e.seq LIMIT 1`,
      [id, place.partsText, origin, run, upTo],
    )
    if (seq !== undefined) return Number(seq)
    const moved = await movedPlace(query, id, place)
    if (moved !== undefined) return startIn(query, id, moved, run)
  }
  const [[seq] = []] = await query(
    `SELECT seq FROM event WHERE session = $1 AND run = $2 AND kind = ${rowKindNumbers.start} ORDER BY seq LIMIT 1`,
    [id, run],
  )
  return seq === undefined ? undefined : Number(seq)
}

/** SPEC 5.3: no partial of an ended run whose message the log has as a whole. */
const needed = `AND NOT (e.kind = ${rowKindNumbers.partial}
  AND EXISTS (SELECT 1 FROM event w WHERE w.session = e.session AND w.seq > e.seq AND w.run = e.run AND w.message = e.message AND w.kind = ${rowKindNumbers.whole})
  AND EXISTS (SELECT 1 FROM event w WHERE w.session = e.session AND w.seq > e.seq AND w.run = e.run AND w.kind = ${rowKindNumbers.end}))`

/** The rows after a seq, one bounded page; none at the end, and none of a later session with the same id. */
export async function pageOf(
  query: Query,
  id: string,
  place: SessionPlace,
  after: number,
  limit: number,
  which = '',
): Promise<readonly RawRecorded[]> {
  let from = after
  for (const { origin, upTo } of place.parts) {
    if (from >= upTo) continue
    const shared = await pageIn(query, { id, origin, upTo }, place, from, limit, which)
    if (shared.length > 0) return shared
    const moved = await movedPlace(query, id, place)
    if (moved !== undefined) return pageOf(query, id, moved, after, limit, which)
    from = upTo // the last of them were pruned
  }
  return pageIn(query, { id, origin: id, upTo: Number.MAX_SAFE_INTEGER }, place, from, limit, which)
}

async function pageIn(
  query: Query,
  { id, origin, upTo }: PgPart & { readonly id: string },
  { born, widest, partsText }: SessionPlace,
  after: number,
  limit: number,
  which: string,
): Promise<readonly RawRecorded[]> {
  let wanted = Math.min(limit, pageRows)
  if (widest * wanted > pageText) {
    const [[fit] = []] = await query(
      `SELECT count(*) FROM (
         SELECT sum(octet_length(e.body)) OVER (ORDER BY e.seq) AS text
         FROM event e WHERE e.session = $1 AND e.seq > $2 ${which} ORDER BY e.seq LIMIT $3) p WHERE text <= ${pageText}`,
      [origin, after, wanted],
    )
    wanted = Math.min(wanted, Math.max(1, Number(fit)))
  }
  // The rows of an origin are read only while the session still shares them, in the same statement.
  const rows =
    origin === id
      ? await query(
          `SELECT ${rawColumns} FROM session s JOIN event e ON e.session = s.id
           WHERE s.id = $1 AND s.born = $2 AND e.seq > $3 ${which} ORDER BY e.seq LIMIT $4`,
          [id, born, after, wanted],
        )
      : await query(
          `SELECT ${rawColumns} FROM session s JOIN event e ON e.session = $5 AND e.seq > $3 AND e.seq <= $6
           WHERE s.id = $1 AND s.born = $2 AND s.parts = $7 ${which} ORDER BY e.seq LIMIT $4`,
          [id, born, after, wanted, origin, upTo, partsText],
        )
  return rows.map(rawOf)
}

async function list(query: Query, wanted: SessionQuery) {
  const { user, agent, search, aside = false, limit, offset = 0 } = wanted
  const filters: string[] = user === undefined ? [`left(s.user_name, 1) ${aside ? '=' : '<>'} chr(30)`] : []
  const values: Value[] = []
  const where = (sql: (at: string) => string, value: Value | undefined): void => {
    if (value === undefined) return
    values.push(value)
    filters.push(sql(`$${values.length}`))
  }
  where((at) => `s.user_name = ${at}`, user)
  where((at) => `s.agent = ${at}`, agent)
  where((at) => `s.status = ANY(${at}::text[])`, statusesFor(wanted))
  where((at) => `position(${at} in s.search) > 0`, search?.toLowerCase().replaceAll('\0', '�'))
  const from = `FROM session s ${filters.length === 0 ? '' : `WHERE ${filters.join(' AND ')}`}`
  const page = await query(
    `SELECT ${pgInfoColumns} ${from} ORDER BY s.updated_at DESC, s.id DESC LIMIT $${values.length + 1} OFFSET $${values.length + 2}`,
    [...values, pageSize(limit), Math.max(0, Math.floor(offset))],
  )
  const [[total] = []] = await query(`SELECT count(*) ${from}`, values)
  return { sessions: page.map(infoOf), total: Number(total) }
}

/** A row that another replica is changing is left out: whatever it was, it is about to be something else. */
async function deadRuns(query: Query, now: number, owner: string | undefined): Promise<readonly Lease[]> {
  const rows = await query(
    `SELECT s.id, s.epoch, s.leases, s.status, s.last_run FROM session s
     WHERE s.lease_until <= $1 OR (s.lease_until IS NOT NULL AND $2 = ANY(s.owners)) OR s.abandoned
     FOR UPDATE SKIP LOCKED`,
    [now, owner ?? null],
  )
  return rows.flatMap(([id, epoch, leases, status, lastRun]): Lease[] => {
    const session = String(id)
    const held = heldIn(session, String(leases))
    const dead = held.filter((lease) => lease.until <= now || lease.owner === owner)
    if (status !== 'running' || lastRun === null || held.some(({ run }) => run === lastRun)) return dead
    return [...dead, { session, run: String(lastRun), owner: '', epoch: Number(epoch), until: 0 }]
  })
}

async function heldLeases(query: Query, owner: string): Promise<readonly HeldLease[]> {
  const rows = await query(
    `SELECT id, leases, user_name, leased FROM (
       SELECT id, leases, user_name, owners, count(*) OVER (PARTITION BY user_name) AS leased
       FROM session WHERE lease_until IS NOT NULL) held
     WHERE $1 = ANY(owners)`,
    [owner],
  )
  return rows
    .flatMap(([id, leases, user, leased]) =>
      heldIn(String(id), String(leases)).map((lease) => ({ ...lease, user: String(user), leased: Number(leased) })),
    )
    .filter((lease) => lease.owner === owner)
    .sort((a, b) => a.until - b.until)
}
