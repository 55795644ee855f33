import { MillraceError, type SessionInfo } from '@millrace/core'
import { tally } from '@millrace/core/store'
import { recordedOf } from '../recorded.ts'
import { rowKindNumbers } from '../row-kind.ts'
import { partsOfFork, type SharedPart } from '../shared-part.ts'
import type { Query } from './connection.ts'
import { eventColumns, rawColumns, rawOf } from './event-row.ts'
import { type PgSession, pgRowColumns, pgSessionOf } from './session-row.ts'

/** The id of a session is its key. */
export type PgPart = SharedPart<string>

/** The parts of a session, the first rows first. */
export function pgPartsIn(text: string): readonly PgPart[] {
  if (text === '[]') return none
  const pairs: readonly (readonly [string, number])[] = JSON.parse(text)
  return pairs.map(([origin, upTo]) => ({ origin, upTo }))
}
const none: readonly PgPart[] = []

export function printParts(parts: readonly PgPart[]): string {
  return JSON.stringify(parts.map(({ origin, upTo }) => [origin, upTo]))
}

/**
 * The source of a fork and the parts of it. They stay as they are until the transaction ends: the rows of all of them are
 * locked against a removal, origins before their forks, which is the order of every lock on several sessions.
 */
export async function lockSource(
  query: Query,
  source: string,
  seq: number,
): Promise<{ readonly session: PgSession; readonly parts: readonly PgPart[] }> {
  for (;;) {
    const [[before] = []] = await query('SELECT parts FROM session WHERE id = $1', [source])
    if (before === undefined) throw new MillraceError('not-found', `no session ${source}`, { session: source })
    for (const { origin } of pgPartsIn(String(before)))
      await query('SELECT 1 FROM session WHERE id = $1 FOR SHARE', [origin])
    const [row] = await query(`SELECT ${pgRowColumns}, s.parts FROM session s WHERE s.id = $1 FOR SHARE`, [source])
    if (row === undefined || row.at(-1) !== before) continue // a removal was faster
    const session = pgSessionOf(row)
    return { session, parts: partsOfFork({ key: source, parts: pgPartsIn(String(before)) }, seq) }
  }
}

/** Writes down which rows the session shares. */
export async function linkRows(query: Query, id: string, parts: readonly PgPart[]): Promise<void> {
  if (parts.length === 0) return
  await query('UPDATE session SET parts = $2 WHERE id = $1', [id, printParts(parts)])
  for (const { origin, upTo } of parts)
    await query(
      `INSERT INTO shared_rows (origin, session, upto) VALUES ($1, $2, $3)
       ON CONFLICT (origin, session) DO UPDATE SET upto = greatest(shared_rows.upto, excluded.upto)`,
      [origin, id, upTo],
    )
}

/** What the rows of these parts add to a new session: its counts and its status (SPEC 2.8). */
export async function pgSharedTally(query: Query, info: SessionInfo, parts: readonly PgPart[]): Promise<SessionInfo> {
  let next = info
  let from = 0
  for (const { origin, upTo } of parts) {
    const where = 'FROM event e WHERE e.session = $1 AND e.seq > $2 AND e.seq <= $3'
    const values = [origin, from, upTo]
    const [[events, at, last] = []] = await query(
      `SELECT count(*), coalesce(max(e.at), 0), coalesce(max(e.seq), 0) ${where}`,
      values,
    )
    const bounds = await query(
      `SELECT ${rawColumns} ${where} AND e.kind IN (${rowKindNumbers.start}, ${rowKindNumbers.end}) ORDER BY e.seq`,
      values,
    )
    const bounded = tally(
      next,
      bounds.map((row) => recordedOf(rawOf(row))),
    )
    next = {
      ...bounded,
      events: next.events + Number(events),
      updatedAt: Math.max(next.updatedAt, Number(at)),
      lastSeq: Math.max(next.lastSeq, Number(last)),
    }
    from = upTo
  }
  return next
}

interface Fork {
  readonly id: string
  readonly parts: readonly PgPart[]
  /** How far it shares the rows of the session that is removed. */
  readonly upTo: number
}

/**
 * Called before a session is removed, inside that transaction: the rows that forks share become those of one of them, and
 * the others share its rows from now on. So rows always belong to a session that is there.
 */
export async function bequeathRows(query: Query, id: string, parts: readonly PgPart[]): Promise<void> {
  for (const { origin } of parts)
    await query('DELETE FROM shared_rows WHERE origin = $1 AND session = $2', [origin, id])
  const rows = await query(
    `SELECT s.id, s.parts, r.upto FROM shared_rows r JOIN session s ON s.id = r.session WHERE r.origin = $1
     ORDER BY json_array_length(s.parts::json), s.id FOR UPDATE OF s`,
    [id],
  )
  const forks = rows.map(([fork, text, upTo]): Fork => {
    return { id: String(fork), parts: pgPartsIn(String(text)), upTo: Number(upTo) }
  })
  // Of those with the most rows, the first has the fewest parts, so that it is no fork of another one of them.
  const heir = forks.reduce<Fork | undefined>(
    (best, fork) => (best === undefined || fork.upTo > best.upTo ? fork : best),
    undefined,
  )
  if (heir === undefined) return
  const columns = eventColumns.replace('session, ', '')
  const [[moved, size, partials] = []] = await query(
    `WITH moved AS (INSERT INTO event (${eventColumns}) SELECT $1, ${columns} FROM event WHERE session = $2 AND seq <= $3
       RETURNING kind, body)
     SELECT count(*), coalesce(sum(length(body)), 0)::bigint, count(*) FILTER (WHERE kind = ${rowKindNumbers.partial}) FROM moved`,
    [heir.id, id, heir.upTo],
  )
  if (Number(moved) > 0)
    await query('UPDATE session SET version = version + 1, size = size + $2, partials = partials + $3 WHERE id = $1', [
      heir.id,
      Number(size),
      Number(partials),
    ])
  await query('DELETE FROM shared_rows WHERE origin = $1', [id])
  await query('UPDATE session SET parts = $2 WHERE id = $1', [
    heir.id,
    printParts(heir.parts.filter(({ origin }) => origin !== id)),
  ])
  for (const fork of forks) if (fork !== heir) await linkRows(query, fork.id, replaced(fork.parts, id, heir.id))
}

/** The parts with another origin; two parts of one origin, one after the other, are one. */
function replaced(parts: readonly PgPart[], from: string, to: string): readonly PgPart[] {
  const next: PgPart[] = []
  for (const { origin, upTo } of parts) {
    const key = origin === from ? to : origin
    if (next.at(-1)?.origin === key) next.pop()
    next.push({ origin: key, upTo })
  }
  return next
}
