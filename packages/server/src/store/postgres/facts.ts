import { type EventLog, factsFold, noFacts, type SessionFacts } from '@millrace/core'
import { checkCursor, checkpointText, factsVersion, isCheckpointDue, jsonSize, readFacts } from '@millrace/core/store'
import { type KeptFacts, keepFacts, mayWait, thinnedAfter } from '../kept-facts.ts'
import { recordedOf } from '../recorded.ts'
import { notFound } from '../refusals.ts'
import type { PgConnection, Query } from './connection.ts'
import { pageOf, placeOf, type SessionPlace } from './read.ts'

const newest = `SELECT seq, body FROM checkpoint WHERE session = $1 AND seq <= $2 AND version = ${factsVersion}
  ORDER BY seq DESC LIMIT 1`

const newestShared = `SELECT c.seq, c.body FROM session s JOIN checkpoint c ON c.session = $1 AND c.seq <= $2
    AND c.version = ${factsVersion} WHERE s.id = $3 AND s.parts = $4 ORDER BY c.seq DESC LIMIT 1`

const insert = `INSERT INTO checkpoint (session, seq, version, body) VALUES ($1, $2, $3, $4)
  ON CONFLICT (session, seq) DO UPDATE SET version = excluded.version, body = excluded.body`

interface Kept extends KeptFacts {
  readonly born: string
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

  /** The newest checkpoint, of the session itself or of one whose rows it still shares. */
  const stored = async (id: string, { parts, partsText }: SessionPlace, seq: number): Promise<SessionFacts> => {
    for (const { origin, upTo } of [{ origin: id, upTo: seq }, ...parts.toReversed()]) {
      const [[at, text] = []] =
        origin === id
          ? await query(newest, [id, seq])
          : await query(newestShared, [origin, Math.min(upTo, seq), id, partsText])
      const found = typeof text === 'string' ? readFacts(text) : undefined
      if (found !== undefined && found.seq === at) return found
    }
    return noFacts
  }
  const since = async (id: string, place: SessionPlace, before: SessionFacts, seq: number): Promise<SessionFacts> => {
    const fold = factsFold(before)
    for (let cursor = before.seq; cursor < seq; ) {
      const page = await pageOf(query, id, place, cursor, seq - cursor)
      const last = page.at(-1)
      if (last === undefined) break
      for (const row of page) if (row.kind !== 'partial' && row.seq <= seq) fold.push(recordedOf(row))
      cursor = last.seq
    }
    // The session was removed meanwhile: what was read of it must not pass for all of it.
    if ((await placeOf(query, id)).born !== place.born) throw notFound(id)
    return { ...fold.facts(), seq }
  }
  return {
    facts: async (id, at) => {
      if (at !== undefined) checkCursor(at)
      checkOpen()
      const place = await placeOf(query, id)
      const seq = Math.min(at ?? place.lastSeq, place.lastSeq)
      if (seq === 0) return noFacts
      const last = kept.get(id)
      const mine = last?.born === place.born ? last : undefined
      const before = mine !== undefined && mine.facts.seq <= seq ? mine.facts : await stored(id, place, seq)
      const facts = before.seq === seq ? before : await since(id, place, before, seq)
      if (seq < place.lastSeq) return facts
      const saved = mine?.saved ?? before.seq
      const known = { born: place.born, facts, saved, size: jsonSize(facts.state) }
      keepFacts(kept, id, { ...known, isDue: isCheckpointDue(seq, saved) && mayWait(known) })
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
  const text = checkpointText(facts, last)
  if (text === undefined) return false
  await query(insert, [id, facts.seq, factsVersion, text])
  await query('DELETE FROM checkpoint WHERE session = $1 AND seq > $2 AND seq <> $3', [
    id,
    thinnedAfter(facts.seq),
    facts.seq,
  ])
  return true
}
