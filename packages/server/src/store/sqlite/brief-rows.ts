import type { RawRecorded } from '@millrace/core'
import { rowKindNumbers } from '../row-kind.ts'
import type { ReadConnection } from './connection.ts'
import { lineOf, rowsIn } from './event-row.ts'

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
    `SELECT run, json_extract(body, '$.message') FROM event WHERE session = ? AND seq > ? AND mark = ${rowKindNumbers.whole}`,
  )
  // A partial hands over only the id of its message; most partials are left out.
  const text = `iif(mark = ${rowKindNumbers.partial}, json_quote(json_extract(body, '$.message')), body)`
  const page = reader.prepare(
    `SELECT ${lineOf(text)} FROM (SELECT * FROM event WHERE session = ? AND seq > ? ORDER BY seq LIMIT ${pageRows})`,
  )
  const body = reader.prepare('SELECT body FROM event WHERE session = ? AND seq = ?')
  // The end of a partial's run, and the whole of its message, come after it: nothing before `first` matters.
  return (session, first) => {
    const endedRuns = new Set(ended([session, first]).map(([run]) => run))
    const wholeMessages = new Set(wholes([session, first]).map(([run, message]) => keyOf(run, message)))
    return (after, limit) => {
      const [lines] = page([session, after])[0] ?? []
      if (typeof lines !== 'string') return undefined
      const rows: RawRecorded[] = []
      let cursor = after
      for (const row of rowsIn(lines)) {
        cursor = row.seq
        if (row.kind !== 'partial') rows.push(row)
        else if (!endedRuns.has(row.run) || !wholeMessages.has(keyOf(row.run, JSON.parse(row.body)))) {
          rows.push({ ...row, body: String(body([session, row.seq])[0]?.[0]) })
        }
        if (rows.length === limit) break
      }
      return { rows, cursor }
    }
  }
}

const keyOf = (run: unknown, message: unknown): string => `${run}\n${message}`
