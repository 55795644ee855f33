import { type EventLog, MillraceError, noFacts, type Recorded, type SessionFacts, sessionFacts } from '@millrace/core'
import { checkCursor, factsVersion, printFacts, readFacts } from '@millrace/core/store'
import { recordedOf } from '../recorded.ts'
import type { PgConnection, Query } from './connection.ts'
import { pageOf, placeOf, type SessionPlace } from './read.ts'

/** Sessions whose newest facts stay in memory. */
const maxKept = 64
/** A checkpoint comes after so many rows, and after more of them where its text is long: it stays small beside them. */
const rowsBetween = 256
const textPerRow = 128
/** Older checkpoints are thinned to the newest of so many rows: they serve reads of the past (`?at=`). */
const block = 4096

const newest = `SELECT seq, body FROM checkpoint WHERE session = $1 AND seq <= $2 AND version = ${factsVersion}
  ORDER BY seq DESC LIMIT 1`

const insert = `INSERT INTO checkpoint (session, seq, version, body) VALUES ($1, $2, $3, $4)
  ON CONFLICT (session, seq) DO UPDATE SET version = excluded.version, body = excluded.body`

interface Kept {
  readonly born: string
  readonly facts: SessionFacts
  /** The seq of the last checkpoint. */
  readonly saved: number
  readonly isDue: boolean
}

export interface PgCheckpoints {
  /** Writes the checkpoint that is due for the session, if one is. It is a saving and no truth: a failure is no error. */
  writeDue(id: string): void
  /** Writes a checkpoint of a session that is being restored. */
  writeRestored(query: Query, id: string, checkpoint: { readonly seq: number; readonly text: string }): Promise<void>
  forget(id: string): void
  settled(): Promise<void>
}

/**
 * The facts of sessions (SPEC 2.12): from the newest checkpoint that is not after the wanted row, and the rows since. A
 * checkpoint that cannot be read, and one of another version, counts as absent.
 */
export function postgresFacts(
  connection: PgConnection,
  checkOpen: () => void,
): Required<Pick<EventLog, 'facts' | 'checkpoint'>> & PgCheckpoints {
  const { query } = connection
  const kept = new Map<string, Kept>()
  const writing = new Set<Promise<unknown>>()

  const stored = async (id: string, seq: number): Promise<SessionFacts> => {
    const [[at, text] = []] = await query(newest, [id, seq])
    const found = typeof text === 'string' ? readFacts(text) : undefined
    return found !== undefined && found.seq === at ? found : noFacts
  }
  const since = async (id: string, place: SessionPlace, before: SessionFacts, seq: number): Promise<SessionFacts> => {
    let facts = before
    for (let cursor = before.seq; cursor < seq; ) {
      const page = await pageOf(query, id, place, cursor, seq - cursor)
      const last = page.at(-1)
      if (last === undefined) break
      const rows: Recorded[] = []
      for (const row of page) if (row.kind !== 'partial' && row.seq <= seq) rows.push(recordedOf(row))
      facts = sessionFacts(rows, facts)
      cursor = last.seq
    }
    // The session was removed meanwhile: what was read of it must not pass for all of it.
    if ((await placeOf(query, id)).born !== place.born)
      throw new MillraceError('not-found', `no session ${id}`, { session: id })
    return { ...facts, seq }
  }
  return {
    facts: async (id, at) => {
      if (at !== undefined) checkCursor(at)
      checkOpen()
      const place = await placeOf(query, id)
      const seq = Math.min(at ?? place.lastSeq, place.lastSeq)
      if (seq === 0) return noFacts
      const known = kept.get(id)
      const mine = known?.born === place.born ? known : undefined
      const before = mine !== undefined && mine.facts.seq <= seq ? mine.facts : await stored(id, seq)
      const facts = before.seq === seq ? before : await since(id, place, before, seq)
      if (seq < place.lastSeq) return facts
      const saved = mine?.saved ?? before.seq
      keep(kept, id, { born: place.born, facts, saved, isDue: seq - saved >= rowsBetween })
      return facts
    },
    checkpoint: async (id, at) => {
      checkOpen()
      const [[seq, text] = []] = await query(newest, [id, at])
      return typeof text === 'string' ? { seq: Number(seq), text } : undefined
    },
    writeDue: (id) => {
      const due = kept.get(id)
      if (due === undefined || !due.isDue) return
      kept.set(id, { ...due, saved: due.facts.seq, isDue: false })
      const work = put(query, id, due.facts, due.saved).catch(() => undefined)
      writing.add(work)
      void work.finally(() => writing.delete(work))
    },
    writeRestored: async (inside, id, { seq, text }) => {
      await inside(insert, [id, seq, factsVersion, text])
    },
    forget: (id) => void kept.delete(id),
    settled: async () => void (await Promise.all(writing)),
  }
}

async function put(query: Query, id: string, facts: SessionFacts, last: number): Promise<boolean> {
  const text = printFacts(facts)
  const rows = facts.seq - last
  if (rows < rowsBetween || text.length > rows * textPerRow) return false
  await query(insert, [id, facts.seq, factsVersion, text])
  // Also what lies beyond: those rows did not exist when these facts were read.
  await query('DELETE FROM checkpoint WHERE session = $1 AND seq > $2 AND seq <> $3', [
    id,
    Math.floor((facts.seq - 1) / block) * block,
    facts.seq,
  ])
  return true
}

/** Keeps a value as the newest of a bounded number. */
function keep(bounded: Map<string, Kept>, id: string, value: Kept): void {
  bounded.delete(id)
  bounded.set(id, value)
  for (const oldest of bounded.keys()) {
    if (bounded.size <= maxKept) break
    bounded.delete(oldest)
  }
}
