import type { SessionInfo } from '@millrace/core'
import { keptStatus, type SessionLeases } from '@millrace/core/store'
import type { RowCounts } from '../new-rows.ts'
import { heldIn, infoOf, infoWidth, searchText } from '../session-info-row.ts'
import type { Bound, Row } from './connection.ts'
import { partsColumn, type RowsPart, sharedPartsIn } from './shared-rows.ts'

/** A session as the store holds it: its public info, its leases, and what only the store needs. */
export interface SessionRow extends RowCounts {
  /** The rowid, by which events and leases refer to the session. */
  readonly key: number
  readonly info: SessionInfo
  readonly leases: SessionLeases
  /** Its first rows, if it is a fork that shares them. */
  readonly parts: readonly RowsPart[]
}

/** A session that has no number and no events yet. */
export function newSessionRow(info: SessionInfo): SessionRow {
  return { key: 0, info, leases: { epoch: 0, held: [] }, partials: 0, widest: 0, size: 0, parts: [] }
}

export const infoColumns = `s.name, s.user, s.agent, s.title, s.status, s.last_run, s.last_seq, s.events, s.runs,
  s.created_at, s.updated_at, s.fork_session, s.fork_seq`
/** The leases are one JSON text, so that one query returns one row. */
export const rowColumns = `${infoColumns}, s.id, s.epoch, s.partials, s.widest, s.size,
  (SELECT json_group_array(json_array(run, owner, epoch, until)) FROM lease WHERE session = s.id), ${partsColumn}`

export function sessionRowOf(row: Row): SessionRow {
  const info = infoOf(row)
  const [key, epoch, partials, widest, size, leases, parts] = row.slice(infoWidth)
  return {
    key: Number(key),
    info,
    leases: { epoch: Number(epoch), held: heldIn(info.id, String(leases)) },
    partials: Number(partials),
    widest: Number(widest),
    size: Number(size),
    parts: sharedPartsIn(parts),
  }
}

/** A session without a number gets the next one. */
export const insertSession = `INSERT INTO session (id, name, user, agent, created_at, fork_session, fork_seq,
  title, search, status, last_run, last_seq, events, runs, updated_at, epoch, partials, widest, size)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
export function insertValues(session: SessionRow): readonly Bound[] {
  const { id, user, agent, createdAt, forkOf } = session.info
  const key = session.key === 0 ? null : session.key
  return [key, id, user, agent, createdAt, forkOf?.session ?? null, forkOf?.seq ?? null, ...changing(session)]
}

export const updateSession = `UPDATE session SET title = ?, search = ?, status = ?, last_run = ?, last_seq = ?,
  events = ?, runs = ?, updated_at = ?, epoch = ?, partials = ?, widest = ?, size = ? WHERE id = ?`
export function updateValues(session: SessionRow): readonly Bound[] {
  return [...changing(session), session.key]
}

/** Only what an append inside a run changes, because each bound value costs half a microsecond. */
export const updateCounts =
  'UPDATE session SET last_seq = ?, events = ?, updated_at = ?, partials = ?, size = ? WHERE id = ?'
export function countValues({ key, info, partials, size }: SessionRow): readonly Bound[] {
  return [info.lastSeq, info.events, info.updatedAt, partials, size, key]
}
export function onlyCountsDiffer(before: SessionRow, { info, leases, widest }: SessionRow): boolean {
  return (
    before.info.title === info.title &&
    keptStatus(before.info) === keptStatus(info) &&
    before.info.lastRun === info.lastRun &&
    before.info.runs === info.runs &&
    before.leases.epoch === leases.epoch &&
    before.widest === widest
  )
}

function changing({ info, leases, partials, widest, size }: SessionRow): readonly Bound[] {
  const { id, title, lastRun, lastSeq, events, runs, updatedAt } = info
  const counts = [lastSeq, events, runs, updatedAt, leases.epoch, partials, widest, size]
  return [title, searchText(title, id), keptStatus(info), lastRun ?? null, ...counts]
}
