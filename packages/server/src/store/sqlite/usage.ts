import type { LogUsage } from '@millrace/core'
import type { ReadConnection } from './connection.ts'
import type { SessionRow } from './session-row.ts'

/**
 * How many sessions and characters each user has. It is asked before each run and would look at every session of the
 * user, so it is read once and then counted along: no other process writes the file.
 */
export interface UsageCounts {
  /** Of one user, or of all. */
  of(user: string | undefined): LogUsage
  /** A transaction goes to the disk now: what the file says from here on may be before or after it. */
  committing(): void
  /** It was committed with these changes, or with none where it failed: each session as it was before and as it is. */
  committed(changes: Iterable<SessionChange>): void
}

/** Undefined before it was made, and after it was removed. */
export type SessionChange = readonly [before: SessionRow | undefined, after: SessionRow | undefined]

/** The number of users whose counts are kept. */
const maxKept = 10_000

/** `leftovers` are the numbers that may be in the table of that name. */
export function usageCounts(reader: ReadConnection, leftovers: Pick<ReadonlySet<number>, 'size'>): UsageCounts {
  const columns = 'SELECT count(*), coalesce(sum(size), 0) FROM session'
  const one = reader.prepare(`${columns} WHERE user = ?`)
  const all = reader.prepare(columns)
  const restoring = 'SELECT coalesce(sum(size), 0) FROM leftover'
  const oneLeft = reader.prepare(`${restoring} WHERE user = ?`)
  const allLeft = reader.prepare(restoring)
  /** A session that is being restored counts already. */
  const withRestoring = (user: string | undefined, { sessions, bytes }: LogUsage): LogUsage => {
    if (leftovers.size === 0) return { sessions, bytes }
    const [[more] = []] = user === undefined ? allLeft([]) : oneLeft([user])
    return { sessions, bytes: bytes + Number(more) }
  }
  const kept = new Map<string | undefined, LogUsage>()
  let isCommitting = false
  const add = (session: SessionRow | undefined, sign: 1 | -1): void => {
    if (session === undefined) return
    for (const whose of [session.info.user, undefined]) {
      const known = kept.get(whose)
      if (known === undefined) continue
      kept.set(whose, { sessions: known.sessions + sign, bytes: known.bytes + sign * session.size })
    }
  }
  return {
    of: (user) => {
      const known = kept.get(user)
      if (known !== undefined) return withRestoring(user, known)
      const [[sessions, bytes] = []] = user === undefined ? all([]) : one([user])
      const usage = { sessions: Number(sessions), bytes: Number(bytes) }
      if (isCommitting) return withRestoring(user, usage)
      if (kept.size >= maxKept) kept.clear()
      kept.set(user, usage)
      return withRestoring(user, usage)
    },
    committing: () => {
      isCommitting = true
    },
    committed: (changes) => {
      isCommitting = false
      // A session may be removed and made again, by another user, in one transaction.
      for (const [before, after] of changes) {
        add(before, -1)
        add(after, 1)
      }
    },
  }
}
