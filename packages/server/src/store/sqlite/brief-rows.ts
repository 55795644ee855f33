import type { RawRecorded } from '@millrace/core'
import { rowKindNumbers } from '../row-kind.ts'
import type { ReadConnection } from './connection.ts'
import { lineOf, rowsIn } from './event-row.ts'
import { isPartialRow, messageJsonOfRow } from './strips.ts'

/** Some rows, and the seq up to which the search for them got. */
export interface BriefPage {
  readonly rows: readonly RawRecorded[]
  readonly cursor: number
}

/** Rows that one query looks at. */
const pageRows = 500

/**
 * Reads a session without the partials that retention could drop (SPEC 2.9); of a session that streams, 8 of 100 rows
 * are left. The partials of a message that was cut off stay, because its text exists nowhere else. A page is undefined at
 * the end of the session.
 */
export function briefRows(
  reader: ReadConnection,
): (session: number, first: number) => (after: number, limit: number) => BriefPage | undefined {
  const ended = reader.prepare(`SELECT run FROM event WHERE session = ? AND seq > ? AND mark = ${rowKindNumbers.end}`)
  const wholes = reader.prepare(
    `SELECT run, ${messageJsonOfRow} FROM event WHERE session = ? AND seq > ? AND mark = ${rowKindNumbers.whole}`,
  )
  // A partial, or a strip of them, hands over only the id of its message; most partials are left out.
  const text = `iif(${isPartialRow}, ${messageJsonOfRow}, body)`
  const mark = `iif(${isPartialRow}, ${rowKindNumbers.partial}, mark)`
  const page = reader.prepare(
    `SELECT ${lineOf(text, mark)} FROM (SELECT * FROM event WHERE session = ? AND seq > ? ORDER BY seq LIMIT ${pageRows})`,
  )
  // A range of seqs, because a fork may split a strip at any moment.
  const whole = reader.prepare(
    `SELECT ${lineOf('body')} FROM (SELECT * FROM event WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq)`,
  )
  // The end of a partial's run, and the whole of its message, come after it: nothing before `first` matters.
  return (session, first) => {
    const endedRuns = new Set(ended([session, first]).map(([run]) => run))
    const wholeMessages = new Set(wholes([session, first]).map(([run, message]) => keyOf(run, message)))
    return (after, limit) => {
      const [lines] = page([session, after])[0] ?? []
      if (typeof lines !== 'string') return undefined
      const most = Math.min(limit, pageRows)
      const rows: RawRecorded[] = []
      let cursor = after
      const partials = (upTo: number): readonly RawRecorded[] => {
        const [text] = whole([session, cursor, upTo])[0] ?? []
        return typeof text === 'string' ? rowsIn(text).filter(({ seq }) => seq > after) : []
      }
      for (const row of rowsIn(lines)) {
        const isLeftOut = (): boolean => endedRuns.has(row.run) && wholeMessages.has(keyOf(row.run, row.body))
        const events = row.kind !== 'partial' ? [row] : isLeftOut() ? [] : partials(row.seq)
        for (const event of events) {
          rows.push(event)
          if (rows.length === most) return { rows, cursor: event.seq }
        }
        cursor = row.seq
      }
      return { rows, cursor }
    }
  }
}

const keyOf = (run: unknown, message: unknown): string => `${run}\n${message}`
