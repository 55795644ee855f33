import type { RawRecorded, Recorded } from '@millrace/core'
import { type RestoredRow, rowKindOf } from '@millrace/core/store'
import { rowKindNames, rowKindNumbers } from '../row-kind.ts'
import { bigints, doubles, smallints, texts } from './binary-lists.ts'
import type { PgRow, Query, Value } from './connection.ts'

/** A row, and the id of its message as JSON text where retention asks for it (SPEC 2.9). */
export interface EventRow extends RawRecorded {
  readonly message: string | null
}

export const eventColumns = 'session, seq, at, run, kind, message, body'

export function eventRowOf({ seq, at, run, event }: Recorded, body: string, kind = rowKindOf(event)): EventRow {
  const counts = (kind === 'partial' || kind === 'whole') && event.kind === 'agent'
  return { seq, at, run, kind, body, message: counts ? JSON.stringify(event.message) : null }
}

export function restoredEvent({ seq, at, run, kind, body, message }: RestoredRow): EventRow {
  return { seq, at, run, kind, body, message: message === undefined ? null : JSON.stringify(message) }
}

/** One list for each column, for `unnest`: one statement stores any number of rows. */
export function eventValues(events: readonly EventRow[]): readonly Value[] {
  return [
    bigints(events.map(({ seq }) => seq)),
    doubles(events.map(({ at }) => at)),
    texts(events.map(({ run }) => run)),
    smallints(events.map(({ kind }) => rowKindNumbers[kind])),
    texts(events.map(({ message }) => message)),
    texts(events.map(({ body }) => body)),
  ]
}

export const rawColumns = 'e.seq, e.at, e.run, e.kind, e.body'
export function rawOf([seq, at, run, kind, body]: PgRow): RawRecorded {
  return {
    seq: Number(seq),
    at: Number(at),
    run: String(run),
    kind: rowKindNames[Number(kind)] ?? 'other',
    body: String(body),
  }
}

/** Whether the log has exactly these events. Without any, it cannot be known. */
export async function sameEvents(query: Query, session: string, events: readonly EventRow[]): Promise<boolean> {
  if (events.length === 0) return false
  const rows = await query(
    `SELECT ${rawColumns} FROM event e WHERE e.session = $1 AND e.seq = ANY($2::bigint[]) ORDER BY e.seq`,
    [session, events.map(({ seq }) => seq)],
  )
  return (
    rows.length === events.length &&
    rows.map(rawOf).every(({ run, at, body }, i) => {
      const wanted = events[i]
      return wanted !== undefined && run === wanted.run && at === wanted.at && body === wanted.body
    })
  )
}
