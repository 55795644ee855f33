import type { RawRecorded, Recorded } from '@millrace/core'
import { rowKindNumbers } from '../row-kind.ts'
import type { WriteConnection } from './connection.ts'
import type { EventValues } from './event-inserts.ts'
import { eventsOfStrip, StripLines, stripOf } from './strip-lines.ts'

/**
 * A strip is one row of the table `event` that holds several events: partials of one message that follow each other in
 * one append and have the same time. Most events are partials, and a row for each of them made most of what a run costs
 * in SQLite: 47 rows took 128 to 225 µs of CPU, and with 40 partials in one row 82 to 90 µs.
 *
 * The `mark` of a strip is the number of its events below zero, its `seq` is that of its last event, and its `body` has a
 * line for each event (`strip-lines.ts`). No other row has a mark below zero. Retention deletes the partials of a message,
 * so it deletes whole strips; a fork that ends inside a strip splits it first, so that a row is shared as a whole or not
 * at all. Only an append makes strips: rows that are restored or moved stay single, and all readers take both.
 */
const most = { events: 64, text: 64 * 1024 }

/** SQL for the number of events in a row. */
export const eventsInRow = 'max(1, -mark)'
/** SQL for the characters that a row has stored for its events: the newlines between them do not count. */
export const textInRow = 'length(body) - max(0, -mark - 1)'
/** The same for a row that is about to be stored. */
export const textStored = ([, , , , mark, body]: EventValues): number => body.length - Math.max(0, -mark - 1)
/** SQL for whether the events of a row are partials. */
export const isPartialRow = `(mark = ${rowKindNumbers.partial} OR mark < 0)`
const firstEvent = 'iif(mark < 0, substr(body, 1, instr(body, char(10)) - 1), body)'
/** SQL for the id of the message that a row is about. */
export const messageOfRow = `json_extract(${firstEvent}, '$.message')`
/**
 * The same as JSON, which can be handed to JavaScript: an id may have half a surrogate pair, which is no UTF-8 and which
 * libsql answers with the end of the process, or U+0000, where libsql ends a text.
 */
export const messageJsonOfRow = `coalesce(${firstEvent} -> '$.message', 'null')`

/** The new rows of a session as the table has them. `raw` has the text of each event. */
export function storedRows(
  session: number,
  rows: readonly Recorded[],
  raw: readonly RawRecorded[],
): readonly EventValues[] {
  const stored: EventValues[] = []
  let strip: Strip | undefined
  const close = (): void => {
    if (strip === undefined) return
    const { seq, at, run, count, lines } = strip
    stored.push([session, seq, at, run, markOf(count), lines.text])
    strip = undefined
  }
  for (const [i, row] of raw.entries()) {
    const { seq, at, run, kind, body } = row
    if (kind !== 'partial') {
      close()
      stored.push([session, seq, at, run, rowKindNumbers[kind], body])
      continue
    }
    const message = messageOf(rows[i])
    if (strip !== undefined && continues(strip, seq, at, run, message, body)) {
      strip.seq = seq
      strip.count += 1
      strip.size += body.length
      strip.lines.add(row)
    } else {
      close()
      strip = { seq, at, run, message, count: 1, size: body.length, lines: new StripLines(row) }
    }
  }
  close()
  return stored
}

interface Strip {
  seq: number
  readonly at: number
  readonly run: string
  readonly message: string | undefined
  count: number
  /** UTF-16 units of its events, each of them whole. */
  size: number
  readonly lines: StripLines
}

function continues(
  strip: Strip,
  seq: number,
  at: number,
  run: string,
  message: string | undefined,
  body: string,
): boolean {
  return (
    strip.message === message &&
    strip.at === at &&
    strip.run === run &&
    strip.seq === seq - 1 &&
    strip.count < most.events &&
    strip.size + body.length < most.text
  )
}

function messageOf(row: Recorded | undefined): string | undefined {
  return row?.event.kind === 'agent' ? row.event.message : undefined
}

function markOf(count: number): number {
  return count === 1 ? rowKindNumbers.partial : -count
}

/**
 * Splits the strip that has this event and later ones, if there is one, so that a fork can share the rows up to it.
 * Called inside the transaction that makes the fork. Returns how many characters more are stored: both parts have now
 * what their events have in common.
 */
export async function stripSplitter(writer: WriteConnection): Promise<(session: number, seq: number) => number> {
  const find = await writer.prepare(
    'SELECT id, seq, at, run, mark, body FROM event WHERE session = ? AND seq >= ? ORDER BY seq LIMIT 1',
  )
  const shorten = await writer.prepare('UPDATE event SET mark = ?, body = ? WHERE id = ?')
  const insert = await writer.prepare('INSERT INTO event (session, seq, at, run, mark, body) VALUES (?, ?, ?, ?, ?, ?)')
  return (session, seq) => {
    const [id, last, at, run, mark, body] = find.first([session, seq]) ?? []
    const later = Number(last) - seq
    const before = -Number(mark) - later
    if (!(Number(mark) < 0 && later > 0 && before > 0)) return 0
    const events = eventsOfStrip(String(body))
    const [start, end] = [stripOf(events.slice(0, before)), stripOf(events.slice(before))]
    shorten.run([markOf(later), end, Number(id)])
    insert.run([session, seq, Number(at), String(run), markOf(before), start])
    return start.length + end.length + 1 - String(body).length // there is a newline less
  }
}
