import { MillraceError } from '../event/problem.ts'
import type { SessionInfo } from './event-log.ts'

/** Stands between the user and the id in a key. No id contains it, so a key can always be taken apart. */
const mark = '\u001f'

/**
 * The id under which a log keeps the session of a user, where sessions have users: two users may both call a session
 * `t1`, and no call can reach another user's session, whatever id it names (SPEC 6.8). Without users the id is the key.
 */
export function sessionKey(user: string, id: string): string {
  checkSessionId(id)
  return `${user}${mark}${id}`
}

/** An id that a request brings must not look like a key. */
export function checkSessionId(id: string): void {
  if (id.includes(mark)) throw new MillraceError('invalid', 'a session id must not contain U+001F', { field: 'id' })
}

/** The id as its user named it. */
export function idInKey(key: string): string {
  return key.slice(key.lastIndexOf(mark) + 1)
}

/** A printable name of the session that no session of another user has, for agents and the servers behind them. */
export function agentSession(key: string): string {
  const end = key.lastIndexOf(mark)
  return end < 0 ? key : `${encodeURIComponent(key.slice(0, end))}:${key.slice(end + 1)}`
}

/** The session as its user sees it. */
export function withOwnId(info: SessionInfo): SessionInfo {
  const id = idInKey(info.id)
  return id === info.id ? info : { ...info, id }
}
