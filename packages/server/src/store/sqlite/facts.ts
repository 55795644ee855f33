import { type EventLog, factsFold, noFacts, type SessionFacts } from '@millrace/core'
import { checkCursor, checkpointText, factsVersion, isCheckpointDue, jsonSize, readFacts } from '@millrace/core/store'
import { ownTurn } from '../../thread/turns.ts'
import { type KeptFacts, keepFacts, keepNewest, mayWait, thinnedAfter } from '../kept-facts.ts'
import { recordedOf } from '../recorded.ts'
import { notFound } from '../refusals.ts'
import { rowKindNumbers } from '../row-kind.ts'
import type { ReadConnection, WriteConnection } from './connection.ts'
import type { EventPages, RowsPlace } from './event-row.ts'
import type { SessionRow } from './session-row.ts'

/** Where the rows of a session are, and how many there are. */
interface Place extends RowsPlace {
  readonly lastSeq: number
}

export interface FactsDeps {
  readonly reader: ReadConnection
  readonly pages: EventPages
  /** The session as it is committed; throws `not-found`, or `unavailable` once the log is closed. */
  readonly place: (id: string) => Place
  /** Facts that are worth a checkpoint: written with the next change of the session's leases. */
  readonly due: Map<number, SessionFacts>
}

/**
 * The facts of sessions (SPEC 2.12): from the newest checkpoint that is not after the wanted row, and the rows since. A
 * checkpoint is a saving and no truth: one of another version, one that cannot be read and one beyond the end of the log
 * count as absent, and the rows are read from the first on.
 */
export function sqliteFacts({
  reader,
  pages,
  place,
  due,
}: FactsDeps): Required<Pick<EventLog, 'facts' | 'checkpoint' | 'startOf'>> {
  const checkpoint = reader.prepare(
    `SELECT seq, body FROM checkpoint WHERE session = ? AND seq <= ? AND version = ${factsVersion} ORDER BY seq DESC LIMIT 1`,
  )
  const start = reader.prepare(
    `SELECT seq FROM event WHERE session = ? AND run = ? AND mark = ${rowKindNumbers.start} ORDER BY seq LIMIT 1`,
  )
  /** By the session's number, the newest last. */
  const kept = new Map<number, KeptFacts>()

  /** The newest checkpoint, of the session itself or of one whose rows it shares. */
  const stored = ({ key, parts }: Place, seq: number): SessionFacts => {
    for (const { origin, upTo } of [{ origin: key, upTo: seq }, ...parts.toReversed()]) {
      const [at, text] = checkpoint([origin, Math.min(upTo, seq)])[0] ?? []
      const found = typeof text === 'string' ? readFacts(text) : undefined
      if (found !== undefined && found.seq === at) return found
    }
    return noFacts
  }
  const since = async (id: string, session: Place, before: SessionFacts, seq: number): Promise<SessionFacts> => {
    const fold = factsFold(before)
    for (let cursor = before.seq; cursor < seq; ) {
      const page = pages.next(session, cursor, seq - cursor)
      const last = page.at(-1)
      if (last === undefined) break
      for (const row of page) if (row.kind !== 'partial' && row.seq <= seq) fold.push(recordedOf(row))
      cursor = last.seq
      if (cursor < seq) await ownTurn()
    }
    // The session was removed meanwhile: what was read of it must not pass for all of it.
    if (place(id).key !== session.key) throw notFound(id)
    return { ...fold.facts(), seq }
  }
  return {
    facts: async (id, at) => {
      if (at !== undefined) checkCursor(at)
      const session = place(id)
      const seq = Math.min(at ?? session.lastSeq, session.lastSeq)
      if (seq === 0) return noFacts
      const last = kept.get(session.key)
      const before = last !== undefined && last.facts.seq <= seq ? last.facts : stored(session, seq)
      const facts = before.seq === seq ? before : await since(id, session, before, seq)
      if (seq < session.lastSeq) return facts
      const saved = last?.saved ?? before.seq
      const isDue = isCheckpointDue(seq, saved)
      const known = { facts, saved: isDue ? seq : saved, size: jsonSize(facts.state) }
      if (isDue && mayWait(known)) keepNewest(due, session.key, facts)
      keepFacts(kept, session.key, known)
      return facts
    },
    checkpoint: async (id, at) => {
      const [seq, text] = checkpoint([place(id).key, at])[0] ?? []
      return typeof text === 'string' ? { seq: Number(seq), text } : undefined
    },
    startOf: async (id, run) => {
      const { key, parts } = place(id)
      for (const { origin, upTo } of [...parts, { origin: key, upTo: Number.POSITIVE_INFINITY }]) {
        const [seq] = start([origin, run])[0] ?? []
        if (seq !== undefined && Number(seq) <= upTo) return Number(seq)
      }
      return undefined
    },
  }
}

export interface Checkpoints {
  /** Writes the checkpoint that is due for the session, if one is. Called inside a transaction. */
  writeDue(session: SessionRow): void
  /** Writes a checkpoint of a session that is being restored. */
  writeRestored(key: number, checkpoint: { readonly seq: number; readonly text: string }): void
}

export async function checkpoints(writer: WriteConnection, due: FactsDeps['due']): Promise<Checkpoints> {
  const newest = await writer.prepare(
    `SELECT max(seq) FROM checkpoint WHERE session = ? AND seq <= ? AND version = ${factsVersion}`,
  )
  const put = await writer.prepare(
    'INSERT OR REPLACE INTO checkpoint (session, seq, version, body) VALUES (?, ?, ?, ?)',
  )
  const thin = await writer.prepare('DELETE FROM checkpoint WHERE session = ? AND seq > ? AND seq <> ?')
  const write = (key: number, facts: SessionFacts, last: number): boolean => {
    const text = checkpointText(facts, last)
    if (text === undefined) return false
    put.run([key, facts.seq, factsVersion, text])
    thin.run([key, thinnedAfter(facts.seq), facts.seq])
    return true
  }
  return {
    writeDue: ({ key }) => {
      const facts = due.get(key)
      if (facts === undefined) return
      due.delete(key)
      write(key, facts, Number(newest.first([key, facts.seq - 1])?.[0] ?? 0))
    },
    writeRestored: (key, { seq, text }) => void put.run([key, seq, factsVersion, text]),
  }
}
