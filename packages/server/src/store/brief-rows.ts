import type { RawRecorded } from '@millrace/core'
import type { Reader } from './connection.ts'
import { marks } from './event-row.ts'

/** Some rows, and the seq up to which they were looked for; none when the session is over. */
export interface Page {
  readonly rows: readonly RawRecorded[]
  readonly cursor: number
}

/** So many rows are looked at in one go; of a partial only the name of its message is read. */
const pageRows = 500

/**
 * A session without the partials that retention could drop (SPEC 2.9): 8 of 100 rows of one that streams, read in a
 * fifth of the time. What a cut message had said so far exists nowhere else, so it stays.
 */
export function briefRows(reader: Reader): (session: number) => (after: number, limit: number) => Page | undefined {
  const ended = reader.prepare(`SELECT run FROM event WHERE session = ? AND mark = ${marks.end}`)
  const wholes = reader.prepare(
    `SELECT run, json_extract(body, '$.message') FROM event WHERE session = ? AND mark = ${marks.whole}`,
  )
  const page = reader.prepare(
    `SELECT seq, at, run, iif(mark = ${marks.partial}, NULL, body), iif(mark = ${marks.partial}, json_extract(body, '$.message'), NULL)
     FROM event WHERE session = ? AND seq > ? ORDER BY seq LIMIT ${pageRows}`,
  )
  const body = reader.prepare('SELECT body FROM event WHERE session = ? AND seq = ?')
  return (session) => {
    const over = new Set(ended([session]).map(([run]) => run))
    const whole = new Set(wholes([session]).map(([run, message]) => nameOf(run, message)))
    return (after, limit) => {
      const rows: RawRecorded[] = []
      let cursor: number | undefined
      for (const [seq, at, run, text, message] of page([session, after])) {
        cursor = Number(seq)
        if (text === null && over.has(run) && whole.has(nameOf(run, message))) continue
        const stored = text ?? body([session, cursor])[0]?.[0]
        rows.push({ seq: cursor, at: Number(at), run: String(run), body: String(stored) })
        if (rows.length === limit) break
      }
      return cursor === undefined ? undefined : { rows, cursor }
    }
  }
}

const nameOf = (run: unknown, message: unknown): string => `${run}\n${message}`
