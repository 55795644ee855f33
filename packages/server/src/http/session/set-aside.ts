import { type EventLog, MillraceError, type Recorded, type SessionInfo } from '@millrace/core'
import { asideKey, asideUser, idInKey, ownerOfAside } from '@millrace/core/store'

/** How long a deleted session can be brought back, in ms. */
export const undoTime = 10 * 60_000

type Log = Pick<EventLog, 'get' | 'read' | 'list' | 'remove' | 'restore' | 'fork'>

/**
 * Keeps a copy of a session that is about to be deleted, under a user that no request has. The copy is in the log, so that
 * it outlives a reload of the page and a crash of the server; where the log shares rows, it costs nothing.
 */
export async function setAside(log: Log, session: SessionInfo): Promise<void> {
  const id = asideKey(session.user, session.id)
  await log.remove(id).catch(ignoreGone)
  await copied(log, session, { ...session, id, user: asideUser(session.user) })
}

/** The deleted sessions of a user, the newest first; without a user, of all. Their `createdAt` is when they were deleted. */
export async function listAside(log: Log, user: string | undefined, now: number): Promise<readonly SessionInfo[]> {
  const { sessions } = await log.list({
    aside: true,
    limit: 500,
    ...(user === undefined ? {} : { user: asideUser(user) }),
  })
  return sessions.filter(({ createdAt }) => createdAt > now - undoTime)
}

/** Makes a deleted session what it was, under its old id. The conflict is the log's, where the id was used again. */
export async function restoreAside(
  log: Log,
  { user, id, now }: { readonly user: string | undefined; readonly id: string; readonly now: number },
  keyOf: (id: string) => string,
): Promise<SessionInfo> {
  const found = (await listAside(log, user, now)).find((each) => idInKey(each.id) === id)
  if (found === undefined)
    throw new MillraceError('not-found', `session ${id} was not deleted, or is gone for good`, { session: id })
  const back = await copied(log, found, { ...found, id: keyOf(id), user: ownerOfAside(found.user) })
  await log.remove(found.id).catch(ignoreGone)
  return back
}

/** Removes the deleted sessions whose time is over; resolves with how many. */
export async function removeAside(log: Log, now: number): Promise<number> {
  let count = 0
  for (let offset = 0; ; offset += 500) {
    const { sessions } = await log.list({ aside: true, limit: 500, offset })
    const over = sessions.filter(({ createdAt }) => createdAt <= now - undoTime)
    for (const { id } of over) await log.remove(id).catch(ignoreGone)
    count += over.length
    offset -= over.length
    if (sessions.length < 500) return count
  }
}

async function copied(
  log: Log,
  source: SessionInfo,
  { id, user, agent, title, forkOf }: SessionInfo,
): Promise<SessionInfo> {
  const made = { id, user, agent, title, ...(forkOf === undefined ? {} : { forkOf }) }
  if (log.fork !== undefined) return log.fork(source.id, source.lastSeq, made, [])
  const rows: Recorded[] = [...(await log.read(source.id, { after: 0 }))]
  return log.restore(made, rows)
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof MillraceError && error.code === 'not-found')) throw error
}
