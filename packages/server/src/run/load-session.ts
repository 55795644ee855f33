import { type EventLog, MillraceError, type Recorded, type SessionInfo } from '@millrace/core'
import { noFacts, type SessionFacts, sessionFacts } from './session-facts.ts'

/** A session as it was read at one moment. A request reads it once; its route and the run that it starts share it. */
export interface LoadedSession {
  readonly info: SessionInfo
  /** Every row of the session, oldest first: a run that is asked for again is replayed from them, partials included. */
  readonly rows: readonly Recorded[]
  /** What the rows add up to: state, runs, open questions. */
  readonly facts: SessionFacts
}

/** A session that was just created: it has no rows to read. */
export function emptyLoadedSession(info: SessionInfo): LoadedSession {
  return { info, rows: [], facts: noFacts }
}

/** Reads the whole session. */
export async function loadSession(log: EventLog, info: SessionInfo): Promise<LoadedSession> {
  return info.lastSeq === 0 ? emptyLoadedSession(info) : extended(log, emptyLoadedSession(info))
}

/** The session as the log has it now. Reads only the rows that came after the ones already loaded. */
export async function refreshSession(log: EventLog, loaded: LoadedSession): Promise<LoadedSession> {
  const { id, user, createdAt } = loaded.info
  const info = await log.get(id)
  // It may have been deleted, and created again by another user, whose session looks like an unknown one (SPEC 6.2).
  if (info?.user !== user) throw new MillraceError('not-found', `no session ${id}`, { session: id })
  // A session that was deleted and created again under the same id shares nothing with the one that was loaded.
  const isSame = info.createdAt === createdAt && info.lastSeq >= lastSeqOf(loaded.rows)
  const before = isSame ? { ...loaded, info } : emptyLoadedSession(info)
  return info.lastSeq === lastSeqOf(before.rows) ? before : extended(log, before)
}

async function extended(log: EventLog, { info, rows, facts }: LoadedSession): Promise<LoadedSession> {
  const more = await log.read(info.id, { after: lastSeqOf(rows) })
  return { info, rows: rows.length === 0 ? more : [...rows, ...more], facts: sessionFacts(more, facts) }
}

export function lastSeqOf(rows: readonly Recorded[]): number {
  return rows.at(-1)?.seq ?? 0
}
