import { type EventLog, MillraceError, noFacts, type SessionFacts, type SessionInfo } from '@millrace/core'

/** A session as it was read at one moment. A request reads it once; its route and the run that it starts share it. */
export interface LoadedSession {
  readonly info: SessionInfo
  /** What its rows add up to: state, open run, open questions. */
  readonly facts: SessionFacts
}

export async function loadSession(log: Pick<EventLog, 'facts'>, info: SessionInfo): Promise<LoadedSession> {
  return { info, facts: info.lastSeq === 0 ? noFacts : await log.facts(info.id) }
}

/** The session as the log has it now. */
export async function refreshSession(
  log: Pick<EventLog, 'get' | 'facts'>,
  loaded: LoadedSession,
): Promise<LoadedSession> {
  const { id, user, createdAt } = loaded.info
  const info = await log.get(id)
  // It may have been deleted, and created again by another user, whose session looks like an unknown one (SPEC 6.2).
  if (info?.user !== user) throw new MillraceError('not-found', `no session ${id}`, { session: id })
  // A session that was deleted and created again under the same id shares nothing with the one that was loaded.
  const isSame = info.createdAt === createdAt && info.lastSeq === loaded.facts.seq
  return isSame ? { ...loaded, info } : loadSession(log, info)
}
