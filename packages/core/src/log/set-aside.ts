import { idInKey, sessionKey } from './session-key.ts'

/** Begins the user of sessions that a person has deleted and may still bring back. */
const mark = '\u001e'

/** The user under whom a log keeps the deleted sessions of a user, until they are gone for good. */
export function asideUser(user: string): string {
  return `${mark}${user}`
}

export function isAsideUser(user: string): boolean {
  return user.startsWith(mark)
}

/** The user that had the session. */
export function ownerOfAside(user: string): string {
  return user.slice(mark.length)
}

/** The key of a deleted session. It is another one than before, so that the id is free at once. */
export function asideKey(user: string, key: string): string {
  return sessionKey(asideUser(user), idInKey(key))
}
