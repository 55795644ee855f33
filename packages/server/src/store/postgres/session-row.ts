import type { SessionInfo } from '@millrace/core'
import { keptStatus, type SessionLeases } from '@millrace/core/store'
import type { RowCounts } from '../new-rows.ts'
import { heldIn, infoOf, infoWidth, searchText } from '../session-info-row.ts'
import type { PgRow, Value } from './connection.ts'

/** A session as the store holds it: its public info, its leases, and what only the store needs. */
export interface PgSession extends RowCounts {
  /** Tells this session from another one that had the same id. */
  readonly born: string
  readonly version: number
  readonly info: SessionInfo
  readonly leases: SessionLeases
  /** The last seq that `remember` covers. */
  readonly remembered: number
}

export const pgInfoColumns = `s.id, s.user_name, s.agent, s.title, s.status, s.last_run, s.last_seq, s.events, s.runs,
  s.created_at, s.updated_at, s.fork_session, s.fork_seq`
export const pgRowColumns = `${pgInfoColumns}, s.born, s.version, s.epoch, s.leases, s.partials, s.widest, s.size, s.remembered`

export function pgSessionOf(row: PgRow): PgSession {
  const info = infoOf(row)
  const [born, version, epoch, leases, partials, widest, size, remembered] = row.slice(infoWidth)
  return {
    born: String(born),
    version: Number(version),
    info,
    leases: { epoch: Number(epoch), held: heldIn(info.id, String(leases)) },
    partials: Number(partials),
    widest: Number(widest),
    size: Number(size),
    remembered: Number(remembered),
  }
}

export const pgInsertSession = `INSERT INTO session (id, born, user_name, agent, created_at, fork_session, fork_seq,
  version, stamp, title, search, status, last_run, last_seq, events, runs, updated_at, epoch, leases, lease_until, owners,
  abandoned, partials, widest, size, remembered)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21::text[], $22, $23, $24, $25, $26)
  ON CONFLICT (id) DO NOTHING RETURNING id`
export function pgInsertValues(row: PgSession, stamp: string): readonly Value[] {
  const { id, user, agent, createdAt, forkOf } = row.info
  const fixed = [id, row.born, user, agent, createdAt, forkOf?.session ?? null, forkOf?.seq ?? null]
  return [...fixed, row.version, ...changing(row, stamp)]
}

/** Changes the row if it still has the version that the change was made from: $1 is the id, $2 that version. */
export const pgUpdateSession = `UPDATE session SET version = version + 1, stamp = $3, title = $4, search = $5, status = $6,
  last_run = $7, last_seq = $8, events = $9, runs = $10, updated_at = $11, epoch = $12, leases = $13, lease_until = $14,
  owners = $15::text[], abandoned = $16, partials = $17, widest = $18, size = $19, remembered = $20
  WHERE id = $1 AND version = $2 AND born = $21 RETURNING version`
export function pgUpdateValues(from: PgSession, to: PgSession, stamp: string): readonly Value[] {
  return [from.info.id, from.version, ...changing(to, stamp), from.born]
}

function changing({ info, leases, partials, widest, size, remembered }: PgSession, stamp: string): readonly Value[] {
  const { id, title, lastRun, lastSeq, events, runs, updatedAt } = info
  const { held, epoch } = leases
  const until = held.length === 0 ? null : Math.min(...held.map((lease) => lease.until))
  const text = JSON.stringify(held.map((lease) => [lease.run, lease.owner, lease.epoch, lease.until]))
  const abandoned = info.status === 'running' && !held.some((lease) => lease.run === lastRun)
  const counts = [lastSeq, events, runs, updatedAt, epoch]
  const found = [text, until, held.map(({ owner }) => owner), abandoned]
  return [
    stamp,
    title,
    searchText(title, id),
    keptStatus(info),
    lastRun ?? null,
    ...counts,
    ...found,
    partials,
    widest,
    size,
    remembered,
  ]
}
