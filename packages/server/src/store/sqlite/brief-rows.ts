import type { RawRecorded } from '@millrace/core'
import type { ReadConnection } from './connection.ts'
import { lineOf, rowKindNumbers, rowsIn } from './event-row.ts'

/** Some rows, and the seq up to which they were looked for; none when the session is over. */
export interface Page {
  readonly rows: readonly RawRecorded[]
  readonly cursor: number
}

/** So many rows are looked at in one go. */
const pageRows = 500

/**
 * A session without the partials that retention could drop (SPEC 2.9): 8 of 100 rows of one that streams. What a cut message had said so far exists nowhere else, so it stays.
 */
export function briefRows(
  reader: ReadConnection,
): (session: number) => (after: number, limit: number) => Page | undefined {
  const ended = reader.prepare(`SELECT run FROM event WHERE session = ? AND mark = ${rowKindNumbers.end}`)
  const wholes = reader.prepare(
    `SELECT run, json_extract(body, '$.message') FROM event WHERE session = ? AND mark = ${rowKindNumbers.whole}`,
  )
  // Of a partial only the name of its message is handed over.
  const text = `iif(mark = ${rowKindNumbers.partial}, json_quote(json_extract(body, '$.message')), body)`
  const page = reader.prepare(
    `SELECT ${lineOf(text)} FROM (SELECT * FROM event WHERE session = ? AND seq > ? ORDER BY seq LIMIT ${pageRows})`,
  )
  const body = reader.prepare('SELECT body FROM event WHERE session = ? AND seq = ?')
  return (session) => {
    const over = new Set(ended([session]).map(([run]) => run))
    const whole = new Set(wholes([session]).map(([run, message]) => nameOf(run, message)))
    return (after, limit) => {
      const [lines] = page([session, after])[0] ?? []
      if (typeof lines !== 'string') return undefined
      const rows: RawRecorded[] = []
      let cursor = after
      for (const row of rowsIn(lines)) {
        cursor = row.seq
        if (row.kind !== 'partial') rows.push(row)
        else if (!over.has(row.run) || !whole.has(nameOf(row.run, JSON.parse(row.body)))) {
          rows.push({ ...row, body: String(body([session, row.seq])[0]?.[0]) })
        }
        if (rows.length === limit) break
      }
      return { rows, cursor }
    }
  }
}

const nameOf = (run: unknown, message: unknown): string => `${run}\n${message}`
