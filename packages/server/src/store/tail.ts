import type { RawRecorded, Recorded } from '@millrace/core'
import { recordedOf } from './recorded.ts'

/**
 * The newest rows of the sessions that somebody follows, so that a thousand readers who are up to date cost no query.
 * Bounded: who falls behind reads from the file again. Nothing is kept for a session that nobody follows.
 */
export interface Tails {
  subscribe(session: string, wake: () => void): Tail
  /** After the commit that made these rows durable. */
  publish(session: string, rows: () => readonly RawRecorded[]): void
  /** Rows of it are no longer what they were: back to the file. */
  forget(session: string): void
  end(session: string): void
  endAll(): void
}

export interface Tail {
  /** The rows after a seq; undefined when they are not all here. */
  after(seq: number): readonly Recorded[] | undefined
  rawAfter(seq: number): readonly RawRecorded[] | undefined
  ended(): boolean
  leave(): void
}

const keptRows = 1000
const keptText = 2 ** 20

interface Kept {
  rows: RawRecorded[]
  /** The same rows opened, as far as anybody asked: once for all readers. */
  opened: Recorded[]
  text: number
  ended: boolean
  readonly wakes: Set<() => void>
}

export function newTails(): Tails {
  const sessions = new Map<string, Kept>()
  const end = (session: string): void => {
    const kept = sessions.get(session)
    if (kept === undefined) return
    kept.ended = true
    sessions.delete(session)
    ring(kept)
  }
  return {
    subscribe: (session, wake) => {
      const kept = sessions.get(session) ?? { rows: [], opened: [], text: 0, ended: false, wakes: new Set() }
      sessions.set(session, kept)
      kept.wakes.add(wake)
      return {
        after: (seq) => openedAfter(kept, seq),
        rawAfter: (seq) => rowsAfter(kept, seq, kept.rows),
        ended: () => kept.ended,
        leave: () => {
          kept.wakes.delete(wake)
          if (kept.wakes.size === 0 && sessions.get(session) === kept) sessions.delete(session)
        },
      }
    },
    publish: (session, rows) => {
      const kept = sessions.get(session)
      if (kept === undefined) return
      keep(kept, rows())
      ring(kept)
    },
    forget: (session) => {
      const kept = sessions.get(session)
      if (kept !== undefined) empty(kept)
    },
    end,
    endAll: () => {
      for (const session of [...sessions.keys()]) end(session)
    },
  }
}

function keep(kept: Kept, rows: readonly RawRecorded[]): void {
  const text = rows.reduce((sum, { body }) => sum + body.length, 0)
  if (kept.rows.length + rows.length > keptRows || kept.text + text > keptText) empty(kept)
  if (rows.length > keptRows || text > keptText) return
  kept.text += text
  for (const row of rows) kept.rows.push(row)
}

function empty(kept: Kept): void {
  kept.rows = []
  kept.opened = []
  kept.text = 0
}

/** Opened from the text that is in the file: what the writer does to its own object is its affair. */
function openedAfter(kept: Kept, seq: number): readonly Recorded[] | undefined {
  for (let at = kept.opened.length; at < kept.rows.length; at++) {
    const row = kept.rows[at]
    if (row !== undefined) kept.opened.push(recordedOf(row))
  }
  return rowsAfter(kept, seq, kept.opened)
}

/** Seqs of new rows have no gaps, so a place is a difference. */
function rowsAfter<T>(kept: Kept, seq: number, rows: readonly T[]): readonly T[] | undefined {
  const [first] = kept.rows
  return first === undefined || first.seq > seq + 1 ? undefined : rows.slice(seq + 1 - first.seq)
}

function ring({ wakes }: Kept): void {
  for (const wake of [...wakes]) wake()
}
