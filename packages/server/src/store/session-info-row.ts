import type { Lease, SessionInfo, SessionQuery } from '@millrace/core'
import { hasStatus, idInKey, type KeptStatus, statusKept } from '@millrace/core/store'

/**
 * The info of a session from its columns, which every store selects in this order: id, user, agent, title, status, last
 * run, last seq, events, runs, created at, updated at, session and seq of the fork.
 */
export function infoOf(row: readonly unknown[]): SessionInfo {
  const [id, user, agent, title, status, lastRun, lastSeq, events, runs, createdAt, updatedAt, from, seq] = row
  return {
    id: String(id),
    user: String(user),
    agent: String(agent),
    title: String(title),
    ...statusKept(isStatus(status) ? status : 'idle'),
    ...(lastRun === null ? {} : { lastRun: String(lastRun) }),
    lastSeq: Number(lastSeq),
    events: Number(events),
    runs: Number(runs),
    createdAt: Number(createdAt),
    updatedAt: Number(updatedAt),
    ...(from === null ? {} : { forkOf: { session: String(from), seq: Number(seq) } }),
  }
}

/** How many columns `infoOf` reads; a store selects its own after them. */
export const infoWidth = 13

/** The leases of a session from a JSON list of run, owner, epoch and end. */
export function heldIn(session: string, text: string): readonly Lease[] {
  const held: readonly (readonly [string, string, number, number])[] = JSON.parse(text)
  return held.map(([run, owner, epoch, until]) => ({ session, run, owner, epoch, until }))
}

/** What a search of the list looks in. Lower case by JavaScript, because SQLite folds the case of ASCII only. */
export function searchText(title: string, id: string): string {
  return `${title}\n${idInKey(id)}`.toLowerCase()
}

const statuses: readonly KeptStatus[] = ['idle', 'running', 'done', 'failed', 'cancelled', 'interrupted', 'cut']
function isStatus(value: unknown): value is KeptStatus {
  return statuses.some((status) => status === value)
}

/** What the column `status` may have for this query; undefined when everything will do. */
export function statusesFor(query: Pick<SessionQuery, 'status' | 'cutOff'>): readonly KeptStatus[] | undefined {
  if (query.status === undefined && query.cutOff === undefined) return undefined
  return statuses.filter((kept) => hasStatus(statusKept(kept), query))
}

/** The same as a JSON list for SQL that has it as one value. */
export function statusText(query: Pick<SessionQuery, 'status' | 'cutOff'>): string | null {
  const kept = statusesFor(query)
  return kept === undefined ? null : JSON.stringify(kept)
}
