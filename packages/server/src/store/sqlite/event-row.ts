import type { RawRecorded } from '@millrace/core'
import { firstIndexWhere } from '@millrace/core/persistent'
import { rowKindNames } from '../row-kind.ts'
import { storeFailed } from '../store-error.ts'
import type { ReadConnection } from './connection.ts'
import type { RowsPart } from './shared-rows.ts'
import { eventOfLine } from './strip-lines.ts'
import { eventsInRow } from './strips.ts'

/**
 * The most rows and bytes of a page, and the most UTF-16 units of its events, which have more text than their strips.
 * The limit on text matters because a slow reader holds a page in memory.
 */
const pageRows = 500
const pageText = 2 ** 20

/** The `widest` of a session with strips is at least this, so that a page never mistakes a number of rows for a number of events. */
export const widestOfStrips = pageText
/** How many seqs are scanned for each wanted event: after retention, most seqs are gone. */
const sparse = 4

/** Where the rows of a session are. */
export interface RowsPlace {
  readonly key: number
  readonly widest: number
  readonly parts: readonly RowsPart[]
  /**
   * Rows after it are not given, though the file may have them: a COMMIT on libsql's thread is in the file a moment before
   * this thread knows. Without it a stream would be ahead of what a read, a moment later, says that the session has.
   */
  readonly lastSeq: number
}

export interface EventPages {
  /** The rows of a session after a seq, at most `limit` and at most one page; empty at the end of the session. */
  next(session: RowsPlace, after: number, limit: number): readonly RawRecorded[]
}

/**
 * Reads a page as one text with a line for each row, because libsql hands over cells slowly: measured (`npm run bench
 * store`), 10,000 rows take 0.63 to 0.76 times as long as cell by cell (14.6 ms instead of 21.3 ms on an idle machine).
 * Reading makes no fsync, so a slow disk changes nothing. JSON holds no raw newline or tab, so a line cannot break.
 */
export function eventPages(reader: ReadConnection): EventPages {
  const page = reader.prepare(
    `SELECT ${lineOf('body')}
     FROM (SELECT * FROM event WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?)`,
  )
  // `octet_length` needs no text in memory, so a page of huge events is cut before it is read.
  const fitting = reader.prepare(
    `SELECT count(*) FROM (
       SELECT sum(octet_length(body)) OVER earlier AS text, sum(${eventsInRow}) OVER earlier AS events
       FROM event WHERE session = ?1 AND seq > ?2 AND seq <= ?3
       WINDOW earlier AS (ORDER BY seq ROWS UNBOUNDED PRECEDING) ORDER BY seq LIMIT ?4)
     WHERE text <= ${pageText} AND events <= ?4`,
  )
  const read = (key: number, widest: number, after: number, limit: number): readonly RawRecorded[] => {
    let wanted = Math.min(limit, pageRows)
    if (widest * wanted > pageText) {
      const [fit] = fitting([key, after, after + wanted * sparse, wanted])[0] ?? []
      wanted = Math.min(wanted, Math.max(1, Number(fit)))
    }
    const [text] = page([key, after, wanted])[0] ?? []
    return typeof text === 'string' ? upToMuch(eventsAfter(rowsIn(text), after), limit) : []
  }
  return {
    next: ({ key, widest, parts, lastSeq }, after, limit) => {
      let from = after
      for (const { origin, upTo } of parts) {
        if (from >= upTo) continue
        const rows = read(origin, widest, from, limit)
        const shared = upToSeq(rows, upTo)
        if (shared.length > 0) return shared
        from = upTo // the last of them were pruned
      }
      return upToSeq(read(key, widest, from, limit), lastSeq)
    },
  }
}

/** The first row may be a strip that has events up to `after`, too. */
function eventsAfter(rows: readonly RawRecorded[], after: number): readonly RawRecorded[] {
  const isAfter = (at: number): boolean => (rows[at]?.seq ?? 0) > after
  return isAfter(0) ? rows : rows.slice(firstIndexWhere(rows.length, isAfter))
}

function upToMuch(rows: readonly RawRecorded[], limit: number): readonly RawRecorded[] {
  const most = Math.min(rows.length, limit)
  let text = 0
  let many = 0
  for (; many < most; many++) {
    text += rows[many]?.body.length ?? 0
    if (text > pageText && many > 0) break
  }
  return many === rows.length ? rows : rows.slice(0, many)
}

function upToSeq(rows: readonly RawRecorded[], last: number): readonly RawRecorded[] {
  return (rows.at(-1)?.seq ?? 0) <= last ? rows : rows.filter(({ seq }) => seq <= last)
}

/** SQL that prints rows as lines for `rowsIn`. `text` is the SQL of the last field, which has as many lines as `mark` says. */
export function lineOf(text: string, mark = 'mark'): string {
  return `group_concat(seq || char(9) || at || char(9) || ${mark} || char(9) || json_quote(run) || char(9) || ${text}, char(10))`
}

/** Reads lines of `seq at mark run body`, separated by tabs. A strip has a line for each further event. */
export function rowsIn(text: string): readonly RawRecorded[] {
  const rows: RawRecorded[] = []
  let quoted = '""'
  let run = ''
  for (let start = 0; start < text.length; ) {
    const seq = text.indexOf('\t', start)
    const at = text.indexOf('\t', seq + 1)
    const mark = text.indexOf('\t', at + 1)
    const name = text.indexOf('\t', mark + 1)
    // A search that finds nothing goes on from the start of the text. Without this it could do so for ever.
    if (seq === -1 || name <= seq) throw storeFailed('damaged', 'rows of a session', 'read')
    if (!text.startsWith(quoted, mark + 1) || mark + 1 + quoted.length !== name) {
      quoted = text.slice(mark + 1, name)
      run = JSON.parse(quoted)
    }
    const last = Number(text.slice(start, seq))
    const time = Number(text.slice(seq + 1, at))
    const sort = Number(text.slice(at + 1, mark))
    const kind = sort < 0 ? 'partial' : (rowKindNames[sort] ?? 'other')
    start = name + 1
    let first: string | undefined
    for (let one = sort < 0 ? last + sort + 1 : last; one <= last; one++) {
      const newline = text.indexOf('\n', start)
      const end = newline === -1 ? text.length : newline
      const line = text.slice(start, end)
      const body = first === undefined ? line : eventOfLine(line, first)
      first ??= line
      rows.push({ seq: one, at: time, run, kind, body })
      start = end + 1
    }
  }
  return rows
}
