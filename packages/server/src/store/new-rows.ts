import type { Draft, PrintedEvent, RawRecorded, Recorded } from '@millrace/core'
import { draftTime, eventText, FormedRow, rowKindOf } from '@millrace/core/store'

/** The drafts as rows that continue a session. */
export function rowsFrom(drafts: readonly Draft[], first: number, now: number): readonly Recorded[] {
  return drafts.map(({ at, run, event }, i) => ({ seq: first + i, at: draftTime(at, now), run, event }))
}

/** The event as the store keeps it, printed only where its writer has not done that. */
export function printedOf({ event, printed }: Pick<Draft, 'event' | 'printed'>): PrintedEvent {
  return printed ?? { row: rowKindOf(event), text: eventText(event) }
}

export function rawRowsOf(rows: readonly Recorded[], printed: readonly PrintedEvent[]): readonly RawRecorded[] {
  return rows.map(({ seq, at, run }, i) => {
    const { row: kind = 'other', text: body = '', form, own } = printed[i] ?? {}
    return form === undefined || own === undefined
      ? { seq, at, run, kind, body }
      : new FormedRow(seq, at, run, body, form, own)
  })
}

/** What a store counts of a session's rows. */
export interface RowCounts {
  /** The number of partials; retention skips a session without any. */
  readonly partials: number
  /** An upper bound for the bytes of a body, to find out how many rows fit a page. */
  readonly widest: number
  /** The characters of the session's own bodies. */
  readonly size: number
}

export function countedRows({ partials, widest, size }: RowCounts, rows: readonly RawRecorded[]): RowCounts {
  let [many, wide, long] = [partials, widest, size]
  for (const { kind, body } of rows) {
    if (kind === 'partial') many += 1
    while (body.length * 3 > wide) wide = Math.max(1024, wide * 2) // UTF-8 takes at most three bytes per unit
    long += body.length
  }
  return { partials: many, widest: wide, size: long }
}
