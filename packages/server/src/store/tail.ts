import type { RawRecorded, Recorded } from '@millrace/core'
import { PassingMap } from '@millrace/core/store'
import { recordedOf } from './recorded.ts'

/**
 * The newest rows of the sessions that have followers, so that a thousand up-to-date readers need no query. The number of
 * rows is bounded: a reader that falls behind reads from the file. A session without followers keeps no rows.
 */
export interface Tails {
  subscribe(session: string, wake: () => void): Tail
  /** Calls back for `behind` only. The result ends it. */
  watch(session: string, behind: () => void): () => void
  /** Called after the commit that made these rows durable. `rows` is called only when the session has followers. */
  publish(session: string, rows: () => readonly RawRecorded[]): void
  /** Drops the rows of a session, because rows of it have changed; readers go back to the file. */
  forget(session: string): void
  /** Another process wrote up to this seq, if it is known: readers go to the store for what is not here. */
  behind(session: string, seq: number | undefined): void
  /** The sessions that have followers, and the last seq of each that was seen here; 0 if none was. */
  followed(): ReadonlyMap<string, number>
  end(session: string): void
  endAll(): void
}

export interface Tail {
  /** The rows after a seq; undefined when some of them are no longer here. */
  after(seq: number): readonly Recorded[] | undefined
  rawAfter(seq: number): readonly RawRecorded[] | undefined
  ended(): boolean
  leave(): void
}

/** At most this many rows and UTF-16 units per session. */
const maxRows = 1000
const maxText = 2 ** 20

interface SessionTail {
  rows: RawRecorded[]
  /** The same rows parsed, as far as a reader asked for them: once for all readers. */
  parsed: Recorded[]
  text: number
  /** The last seq that was published, or that another process was seen to have written. */
  seen: number
  ended: boolean
  readonly wakes: Set<() => void>
  readonly watchers: Set<() => void>
}

export function newTails(): Tails {
  const sessions = new PassingMap<string, SessionTail>()
  const end = (session: string): void => {
    const tail = sessions.get(session)
    if (tail === undefined) return
    tail.ended = true
    sessions.delete(session)
    wakeAll(tail)
  }
  const open = (session: string): SessionTail => {
    const tail = sessions.get(session) ?? newTail()
    sessions.set(session, tail)
    return tail
  }
  const closeUnused = (session: string, tail: SessionTail): void => {
    if (tail.wakes.size + tail.watchers.size === 0 && sessions.get(session) === tail) sessions.delete(session)
  }
  return {
    watch: (session, behind) => {
      const tail = open(session)
      tail.watchers.add(behind)
      return () => {
        tail.watchers.delete(behind)
        closeUnused(session, tail)
      }
    },
    subscribe: (session, wake) => {
      const tail = open(session)
      tail.wakes.add(wake)
      return {
        after: (seq) => parsedAfter(tail, seq),
        rawAfter: (seq) => rowsAfter(tail, seq, tail.rows),
        ended: () => tail.ended,
        leave: () => {
          tail.wakes.delete(wake)
          closeUnused(session, tail)
        },
      }
    },
    publish: (session, rows) => {
      const tail = sessions.get(session)
      if (tail === undefined) return
      const added = rows()
      tail.seen = Math.max(tail.seen, added.at(-1)?.seq ?? 0)
      if (tail.wakes.size === 0) return empty(tail) // only watched: without these rows, the ones before would leave a gap
      keep(tail, added)
      wakeAll(tail)
    },
    forget: (session) => {
      const tail = sessions.get(session)
      if (tail !== undefined) empty(tail)
    },
    behind: (session, seq) => {
      const tail = sessions.get(session)
      if (tail === undefined || (seq !== undefined && seq <= tail.seen)) return
      if (seq !== undefined) tail.seen = seq
      empty(tail)
      wakeAll(tail)
      for (const watcher of [...tail.watchers]) watcher()
    },
    followed: () => new Map([...sessions.keys()].map((session) => [session, sessions.get(session)?.seen ?? 0])),
    end,
    endAll: () => {
      for (const session of [...sessions.keys()]) end(session)
    },
  }
}

function newTail(): SessionTail {
  return { rows: [], parsed: [], text: 0, seen: 0, ended: false, wakes: new Set(), watchers: new Set() }
}

function keep(tail: SessionTail, rows: readonly RawRecorded[]): void {
  const text = rows.reduce((sum, { body }) => sum + body.length, 0)
  // Where another process wrote in between, what is here would leave a gap.
  const [first] = rows
  if (first !== undefined && first.seq !== (tail.rows.at(-1)?.seq ?? 0) + 1) empty(tail)
  if (tail.rows.length + rows.length > maxRows || tail.text + text > maxText) empty(tail)
  if (rows.length > maxRows || text > maxText) return
  tail.text += text
  for (const row of rows) tail.rows.push(row)
}

function empty(tail: SessionTail): void {
  tail.rows = []
  tail.parsed = []
  tail.text = 0
}

/** Parsed from the text that is in the file, because the writer may change its own object after the append. */
function parsedAfter(tail: SessionTail, seq: number): readonly Recorded[] | undefined {
  for (let at = tail.parsed.length; at < tail.rows.length; at++) {
    const row = tail.rows[at]
    if (row !== undefined) tail.parsed.push(recordedOf(row))
  }
  return rowsAfter(tail, seq, tail.parsed)
}

/** The seqs of new rows have no gaps, so the index of a row is a difference of seqs. */
function rowsAfter<T>(tail: SessionTail, seq: number, rows: readonly T[]): readonly T[] | undefined {
  const [first] = tail.rows
  return first === undefined || first.seq > seq + 1 ? undefined : rows.slice(seq + 1 - first.seq)
}

function wakeAll({ wakes }: SessionTail): void {
  for (const wake of [...wakes]) wake()
}
