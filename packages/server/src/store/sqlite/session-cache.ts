import { MillraceError, type SessionInfo } from '@millrace/core'
import type { SessionLeases } from '@millrace/core/store'
import type { Statement, WriteConnection } from './connection.ts'
import type { CommitHooks } from './group-commit.ts'
import {
  countValues,
  insertSession,
  insertValues,
  newSessionRow,
  onlyCountsDiffer,
  rowColumns,
  type SessionRow,
  sessionRowOf,
  updateCounts,
  updateSession,
  updateValues,
} from './session-row.ts'
import type { UsageCounts } from './usage.ts'

/**
 * The session rows inside the writer's transaction. The changes of a group are staged here and written once per session
 * before COMMIT, however many appends there were. Committed rows stay cached, because no other process writes the file.
 */
export interface SessionCache extends CommitHooks {
  find(id: string): SessionRow | undefined
  must(id: string): SessionRow
  /** The row as it was last committed, if it is in memory. */
  committedRow(id: string): SessionRow | undefined
  /** Inserts the row at once, because its events need its key. */
  insert(info: SessionInfo): SessionRow
  /** Inserts the row of a session whose events are there already, under its own key. */
  insertAs(session: SessionRow): void
  change(session: SessionRow): void
  changeLeases(session: SessionRow, leases: SessionLeases): void
  forget(id: string): void
}

/** The number of sessions that stay cached between transactions. */
const maxCached = 2000

export async function sessionCache(writer: WriteConnection, usage: UsageCounts): Promise<SessionCache> {
  const select = await writer.prepare(`SELECT ${rowColumns} FROM session s WHERE s.name = ?`)
  const insert = await writer.prepare(insertSession)
  const update = await writer.prepare(updateSession)
  const count = await writer.prepare(updateCounts)
  const leases = await leaseRows(writer)
  const known = new Map<string, SessionRow>()
  let staged = new Map<string, SessionRow | undefined>()
  /** The rows that this transaction read from the file. */
  let read = new Map<string, SessionRow>()
  /** New maps: one that is emptied keeps what was in it alive, see `PassingMap`. */
  const beginAnew = (): void => {
    staged = new Map()
    read = new Map()
  }

  const find = (id: string): SessionRow | undefined => {
    if (staged.has(id)) return staged.get(id)
    const session = known.get(id)
    if (session !== undefined) return session
    const stored = read.get(id)
    if (stored !== undefined) return stored
    const row = select.first([id])
    if (row === undefined) return undefined
    const found = sessionRowOf(row)
    read.set(id, found)
    return found
  }
  return {
    find,
    must: (id) => {
      const session = find(id)
      if (session === undefined) throw new MillraceError('not-found', `no session ${id}`, { session: id })
      return session
    },
    committedRow: (id) => known.get(id),
    insert: (info) => {
      const session = newSessionRow(info)
      return { ...session, key: insert.run(insertValues(session)) }
    },
    insertAs: (session) => {
      insert.run(insertValues(session))
      staged.set(session.info.id, session)
    },
    change: (session) => void staged.set(session.info.id, session),
    changeLeases: (session, next) => {
      leases(session, next)
      staged.set(session.info.id, { ...session, leases: next })
    },
    forget: (id) => void staged.set(id, undefined),
    beforeCommit: () => {
      usage.committing()
      for (const [id, session] of staged) {
        if (session === undefined) continue
        const before = known.get(id)
        if (before !== undefined && onlyCountsDiffer(before, session)) count.run(countValues(session))
        else update.run(updateValues(session))
      }
    },
    committed: () => {
      usage.committed([...staged].map(([id, session]) => [known.get(id) ?? read.get(id), session]))
      for (const [id, session] of staged) {
        known.delete(id)
        if (session !== undefined) known.set(id, session) // moves the newest to the end
      }
      beginAnew()
      for (const id of known.keys()) {
        if (known.size <= maxCached) break
        known.delete(id)
      }
    },
    rolledBack: () => {
      usage.committed([])
      beginAnew()
    },
  }
}

/** Writes only the leases that differ, which usually is one. */
async function leaseRows(writer: WriteConnection): Promise<(session: SessionRow, next: SessionLeases) => void> {
  const put: Statement = await writer.prepare(
    `INSERT INTO lease (session, run, owner, epoch, until) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (session, run) DO UPDATE SET owner = excluded.owner, epoch = excluded.epoch, until = excluded.until`,
  )
  const drop: Statement = await writer.prepare('DELETE FROM lease WHERE session = ? AND run = ?')
  return ({ key, leases: before }, next) => {
    for (const lease of next.held) {
      if (!before.held.includes(lease)) put.run([key, lease.run, lease.owner, lease.epoch, lease.until])
    }
    for (const { run } of before.held) {
      if (!next.held.some((lease) => lease.run === run)) drop.run([key, run])
    }
  }
}
