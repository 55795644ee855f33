import { MillraceError } from '../event/problem.ts'
import type { Recorded } from '../event/run-event.ts'
import { defined } from '../json/defined.ts'
import type { NewSession, SessionInfo } from './event-log.ts'
import type { RestoredRow } from './restored-rows.ts'
import { type KeptStatus, keptStatus, statusKept, wasCutOff } from './session-status.ts'

/** A new session without events. */
export function emptySession({ id, user, agent, title = '', forkOf }: NewSession, at: number): SessionInfo {
  if (id === '') throw new MillraceError('invalid', 'a session needs an id', { field: 'id' })
  checkNames({ id, user, agent, title, forkOf: forkOf?.session ?? '' })
  const counts = { lastSeq: 0, events: 0, runs: 0, createdAt: at, updatedAt: at }
  return { id, user, agent, title, status: 'idle', ...counts, ...defined({ forkOf }) }
}

/** The session after these rows were appended (SPEC 2.8). */
export function tally(info: SessionInfo, rows: readonly Recorded[]): SessionInfo {
  return tallied(info, rows, ({ event }) => {
    if (event.kind === 'run.finished') return wasCutOff(event) ? 'cut' : event.outcome
    return event.kind === 'run.started' ? 'running' : undefined
  })
}

/** The same for rows that are text. */
export function tallyRestored(info: SessionInfo, rows: readonly RestoredRow[]): SessionInfo {
  return tallied(info, rows, ({ kind, outcome, cutOff }) => {
    if (kind === 'start') return 'running'
    return cutOff === true ? 'cut' : outcome
  })
}

/** The one place that defines status and counts. A row that starts or ends a run has a status. */
function tallied<T extends Pick<Recorded, 'seq' | 'at' | 'run'>>(
  info: SessionInfo,
  rows: readonly T[],
  statusOf: (row: T) => KeptStatus | undefined,
): SessionInfo {
  let { lastRun, lastSeq, runs, updatedAt } = info
  let kept = keptStatus(info)
  for (const row of rows) {
    const { seq, at, run } = row
    lastSeq = seq
    if (at > updatedAt) updatedAt = at
    const now = statusOf(row)
    if (now === 'running') {
      kept = now
      lastRun = run
      runs += 1
    } else if (now !== undefined && (lastRun === undefined || lastRun === run)) {
      // The late end of a crashed run does not change the status of a run that started after it.
      kept = now
    }
  }
  const { cutOff: _before, ...known } = info
  const next = { ...known, ...statusKept(kept), lastSeq, runs, updatedAt, events: info.events + rows.length }
  return lastRun === undefined || lastRun === info.lastRun ? next : { ...next, lastRun }
}

/**
 * Names are compared byte for byte, and two kinds of characters do not survive in SQLite or PostgreSQL: U+0000 ends the
 * text (`a\0b` would be the user `a`), and every unpaired surrogate becomes the same U+FFFD.
 */
export function checkNames(names: Readonly<Record<string, string>>): void {
  for (const [field, name] of Object.entries(names)) {
    if (typeof name !== 'string' || name.includes('\0') || /\p{Surrogate}/u.test(name)) {
      throw new MillraceError('invalid', `${field} must be well-formed text without U+0000`, { field })
    }
  }
}

/** Half of what a seq can count to: after any imported history there is room for as many events again. */
const highestSeq = 2 ** 52

/** The range of a Date: a time outside it cannot be printed. */
const isTime = (at: number): boolean => Math.abs(at) <= 8.64e15

/** Refuses rows unless every seq is an integer above the one before and every time is within the range of a Date. */
export function checkHistory(rows: readonly Pick<Recorded, 'seq' | 'at' | 'run'>[], after = 0): void {
  let last = after
  let lastRun = ''
  for (const [index, { seq, at, run }] of rows.entries()) {
    if (!Number.isInteger(seq) || seq <= last || seq > highestSeq) {
      throw new MillraceError('invalid', `seq ${seq} must be an integer greater than ${last}, the one before`, {
        index,
        seq,
        field: 'seq',
      })
    }
    if (!isTime(at))
      throw new MillraceError('invalid', `at must be a time in milliseconds within ±8.64e15, not ${at}`, {
        index,
        seq,
        field: 'at',
      })
    if (run !== lastRun) checkNames({ run })
    lastRun = run
    last = seq
  }
}

/** The event as JSON text. An event that cannot be JSON is refused before anything is written. */
export function eventText(event: Recorded['event']): string {
  let text: string | undefined
  try {
    text = JSON.stringify(event)
  } catch (cause) {
    throw new MillraceError('invalid', 'the event cannot be printed as JSON', { field: 'event' }, cause)
  }
  if (text === undefined) throw new MillraceError('invalid', 'the event cannot be printed as JSON', { field: 'event' })
  return text
}

/** A cursor may be 0 or any seq, also one beyond the end; anything else is `invalid`. */
export function checkCursor(after: number): void {
  if (!(after >= 0))
    throw new MillraceError('invalid', `after must be a sequence number >= 0, not ${after}`, { field: 'after' })
}

/** How many sessions `list` returns at most. */
export function pageSize(limit = 100): number {
  return Number.isNaN(limit) ? 100 : Math.max(1, Math.min(500, Math.floor(limit)))
}

/** The time of a row: that of the draft, if it has one. */
export function draftTime(at: number | undefined, now: number): number {
  if (at !== undefined && !isTime(at)) {
    throw new MillraceError('invalid', `at must be a time in milliseconds within ±8.64e15, not ${at}`, { field: 'at' })
  }
  return at ?? now
}
