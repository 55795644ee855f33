import type { RawRecorded, Recorded, RunEvent } from '@millrace/core'
import type { Mark } from '@millrace/core/store'
import type { Reader, Row } from './connection.ts'
import { storeFailed } from './store-error.ts'

/** `event.mark`: what retention asks for, without opening the body. */
export const marks: Readonly<Record<Mark, number>> = { other: 0, whole: 1, partial: 2, end: 3 }

/** A page: this many rows, or fewer where the text of so many would be too much to hold at once. */
const pageRows = 500
const pageText = 4 * 2 ** 20

export interface EventPages {
  /** The rows of a session after a seq, at most `limit` and at most one page; none at the end. */
  next(session: { readonly key: number; readonly widest: number }, after: number, limit: number): readonly RawRecorded[]
}

export function eventPages(reader: Reader): EventPages {
  const page = reader.prepare('SELECT seq, at, run, body FROM event WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?')
  // Sizes are told without reading the text: so a session of huge events is cut before it is in memory.
  const fitting = reader.prepare(
    `SELECT count(*) FROM (
       SELECT sum(octet_length(body)) OVER (ORDER BY seq ROWS UNBOUNDED PRECEDING) AS text
       FROM event WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?) WHERE text <= ${pageText}`,
  )
  return {
    next: ({ key, widest }, after, limit) => {
      const wanted = Math.min(limit, pageRows)
      if (widest * wanted <= pageText) return page([key, after, wanted]).map(rawOf)
      const [fit] = fitting([key, after, wanted])[0] ?? []
      return page([key, after, Math.min(wanted, Math.max(1, Number(fit)))]).map(rawOf)
    },
  }
}

/** The body was written by us, from a RunEvent: text that is no JSON is a damaged file. */
export function recordedOf({ seq, at, run, body }: RawRecorded): Recorded {
  try {
    const event: RunEvent = JSON.parse(body)
    return { seq, at, run, event }
  } catch (cause) {
    throw storeFailed('damaged', `event ${seq}`, 'read', { seq }, cause)
  }
}

function rawOf([seq, at, run, body]: Row): RawRecorded {
  return { seq: Number(seq), at: Number(at), run: String(run), body: String(body) }
}
