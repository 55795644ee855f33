import { MillraceError, type SessionInfo } from '@millrace/core'
import type { SessionLeases } from '@millrace/core/store'
import type { Statement, WriteConnection } from './connection.ts'
import type { CommitHooks } from './group-commit.ts'
import {
  countValues,
  headColumns,
  headOf,
  insertSession,
  insertValues,
  onlyCountsDiffer,
  type SessionRow,
  updateCounts,
  updateSession,
  updateValues,
} from './session-row.ts'

/**
 * The session rows inside the writer's transaction. What a group changes is staged here and written once per session
 * before COMMIT, however many appends there were; after it the rows stay at hand, since nobody else writes the file.
 */
export interface SessionCache extends CommitHooks {
  find(id: string): SessionRow | undefined
  must(id: string): SessionRow
  /** Inserts the row at once: its key is needed for the events. */
  insert(info: SessionInfo): SessionRow
  change(head: SessionRow): void
  changeLeases(head: SessionRow, leases: SessionLeases): void
  forget(id: string): void
}

/** Sessions kept at hand between transactions. */
const kept = 2000

export async function sessionCache(writer: WriteConnection): Promise<SessionCache> {
  const select = await writer.prepare(`SELECT ${headColumns} FROM session s WHERE s.name = ?`)
  const insert = await writer.prepare(insertSession)
  const update = await writer.prepare(updateSession)
  const count = await writer.prepare(updateCounts)
  const leases = await leaseRows(writer)
  const known = new Map<string, SessionRow>()
  const staged = new Map<string, SessionRow | undefined>()

  const find = (id: string): SessionRow | undefined => {
    if (staged.has(id)) return staged.get(id)
    const head = known.get(id)
    if (head !== undefined) return head
    const row = select.first([id])
    return row === undefined ? undefined : headOf(row)
  }
  return {
    find,
    must: (id) => {
      const head = find(id)
      if (head === undefined) throw new MillraceError('not-found', `no session ${id}`, { session: id })
      return head
    },
    insert: (info) => {
      const head: SessionRow = { key: 0, info, leases: { epoch: 0, held: [] }, partials: 0, widest: 0 }
      return { ...head, key: insert.run(insertValues(head)) }
    },
    change: (head) => void staged.set(head.info.id, head),
    changeLeases: (head, next) => {
      leases(head, next)
      staged.set(head.info.id, { ...head, leases: next })
    },
    forget: (id) => void staged.set(id, undefined),
    beforeCommit: () => {
      for (const [id, head] of staged) {
        if (head === undefined) continue
        const before = known.get(id)
        if (before !== undefined && onlyCountsDiffer(before, head)) count.run(countValues(head))
        else update.run(updateValues(head))
      }
    },
    committed: () => {
      for (const [id, head] of staged) {
        known.delete(id)
        if (head !== undefined) known.set(id, head) // the newest last
      }
      staged.clear()
      for (const id of known.keys()) {
        if (known.size <= kept) break
        known.delete(id)
      }
    },
    rolledBack: () => staged.clear(),
  }
}

/** Writes down the difference: in the usual case one row. */
async function leaseRows(writer: WriteConnection): Promise<(head: SessionRow, next: SessionLeases) => void> {
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
