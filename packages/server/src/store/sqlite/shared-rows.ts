import type { RawRecorded, Recorded, SessionInfo } from '@millrace/core'
import { tally } from '@millrace/core/store'
import { recordedOf } from '../recorded.ts'
import { rowKindNumbers } from '../row-kind.ts'
import type { SharedPart } from '../shared-part.ts'
import type { WriteConnection } from './connection.ts'
import { lineOf, rowsIn } from './event-row.ts'
import { eventsInRow } from './strips.ts'

/** The number of a session is its key. */
export type RowsPart = SharedPart<number>

/** The parts of a session, the first rows first, from the JSON of `partsColumn`. */
export function sharedPartsIn(text: unknown): readonly RowsPart[] {
  if (text === '[]') return none
  const pairs: readonly (readonly [number, number])[] = JSON.parse(String(text))
  return pairs.map(([origin, upTo]) => ({ origin, upTo })).sort((a, b) => a.upTo - b.upTo)
}
const none: readonly RowsPart[] = []

/** SQL for the parts of the session `s`. */
export const partsColumn = `(SELECT json_group_array(json_array(origin, upto)) FROM shared_rows WHERE session = s.id)`

/** What the rows of these parts add to a new session: its counts and its status (SPEC 2.8). */
export async function sharedTally(
  writer: WriteConnection,
): Promise<(info: SessionInfo, parts: readonly RowsPart[]) => SessionInfo> {
  const where = 'FROM event WHERE session = ? AND seq > ? AND seq <= ?'
  const count = await writer.prepare(
    `SELECT coalesce(sum(${eventsInRow}), 0), coalesce(max(at), 0), coalesce(max(seq), 0) ${where}`,
  )
  const bounds = await writer.prepare(
    `SELECT ${lineOf('body')} FROM (SELECT * ${where} AND mark IN (${rowKindNumbers.start}, ${rowKindNumbers.end}) ORDER BY seq)`,
  )
  return (info, parts) => {
    let next = info
    let from = 0
    for (const { origin, upTo } of parts) {
      const [events, at, last] = (count.first([origin, from, upTo]) ?? []).map(Number)
      const [text] = bounds.first([origin, from, upTo]) ?? []
      const rows: readonly RawRecorded[] = typeof text === 'string' ? rowsIn(text) : []
      const bounded = tally(
        next,
        rows.map((row): Recorded => recordedOf(row)),
      )
      next = {
        ...bounded,
        events: next.events + (events ?? 0),
        updatedAt: Math.max(next.updatedAt, at ?? 0),
        lastSeq: Math.max(next.lastSeq, last ?? 0),
      }
      from = upTo
    }
    return next
  }
}

/** How far the rows of a session are shared by others; 0 when they are not. */
export const sharedUpTo = (key: string, but: number): string =>
  `coalesce((SELECT max(upto) FROM shared_rows WHERE origin = ${key} AND session <> ${but}), 0)`

/**
 * Deletes the rows of a session that no fork needs, and those of removed sessions that only this one needed. The SQL
 * holds its numbers as text, because `exec`, which runs on another thread, takes no parameters.
 */
export function removeRowsSql(key: number): string {
  const gone = `SELECT origin FROM shared_rows r WHERE r.session = ${key} AND NOT EXISTS (SELECT 1 FROM session WHERE id = r.origin)`
  return ['event', 'checkpoint']
    .flatMap((table) => [
      `DELETE FROM ${table} WHERE session = ${key} AND seq > ${sharedUpTo(String(key), 0)};`,
      `DELETE FROM ${table} WHERE session IN (${gone}) AND seq > ${sharedUpTo(`${table}.session`, key)};`,
    ])
    .concat(`DELETE FROM shared_rows WHERE session = ${key};`)
    .join(' ')
}

/** SQL for the rows of a session that retention must leave, because a fork shares them. */
export const isSharedRowSql = (key: number): string => `seq <= ${sharedUpTo(String(key), 0)}`
