import { MillraceError } from '../event/problem.ts'
import type { Recorded } from '../event/run-event.ts'
import type { NewSession, SessionInfo } from './event-log.ts'

/** A session that has just been made. */
export function emptySession({ id, user, agent, title = '', forkOf }: NewSession, at: number): SessionInfo {
  if (id === '') throw new MillraceError('invalid', 'a session needs an id', { field: 'id' })
  checkNames({ id, user, agent, title, forkOf: forkOf?.session ?? '' })
  return {
    id,
    user,
    agent,
    title,
    status: 'idle',
    lastSeq: 0,
    events: 0,
    runs: 0,
    createdAt: at,
    updatedAt: at,
    ...(forkOf === undefined ? {} : { forkOf }),
  }
}

/** The session after it has taken these rows (SPEC 2.8): the one place that says what status and counts mean. */
export function tally(info: SessionInfo, rows: readonly Recorded[]): SessionInfo {
  let { status, lastRun, lastSeq, runs, updatedAt } = info
  for (const { seq, at, run, event } of rows) {
    lastSeq = seq
    if (at > updatedAt) updatedAt = at
    if (event.kind === 'run.started') {
      status = 'running'
      lastRun = run
      runs += 1
    } else if (event.kind === 'run.finished' && (lastRun === undefined || lastRun === run)) {
      // The late end of a crashed run says nothing about the one that started after it.
      status = event.outcome
    }
  }
  const next = { ...info, status, lastSeq, runs, updatedAt, events: info.events + rows.length }
  return lastRun === undefined || lastRun === info.lastRun ? next : { ...next, lastRun }
}

/**
 * Names are compared byte for byte, and neither SQLite nor PostgreSQL can hold these two: U+0000 ends the text
 * (`a\0b` would be the user `a`), and an unpaired surrogate becomes U+FFFD (all of them the same one).
 */
export function checkNames(names: Readonly<Record<string, string>>): void {
  for (const [field, name] of Object.entries(names)) {
    if (typeof name !== 'string' || name.includes('\0') || /\p{Surrogate}/u.test(name)) {
      throw new MillraceError('invalid', `${field} is not well-formed text`, { field })
    }
  }
}

/** Half of what a seq can count to: after any history that is taken in there is room for as many events again. */
const lastPlace = 2 ** 52

/** What a Date can hold: a time beyond it cannot be printed. */
const isTime = (at: number): boolean => Math.abs(at) <= 8.64e15

/** Refuses a history that is not one: every seq a positive integer above the one before, every time one of a calendar. */
export function checkHistory(rows: readonly Recorded[]): void {
  let last = 0
  for (const [index, { seq, at, run }] of rows.entries()) {
    if (!Number.isInteger(seq) || seq <= last || seq > lastPlace) {
      throw new MillraceError('invalid', `seq ${seq} after ${last}`, { index, seq, field: 'seq' })
    }
    if (!isTime(at)) throw new MillraceError('invalid', `at ${at} is no time`, { index, seq, field: 'at' })
    checkNames({ run })
    last = seq
  }
}

/** The event as text, as every durable store keeps it; what cannot be JSON is refused before anything is written. */
export function eventText(event: Recorded['event']): string {
  let text: string | undefined
  try {
    text = JSON.stringify(event)
  } catch (cause) {
    throw new MillraceError('invalid', 'the event is not JSON', { field: 'event' }, cause)
  }
  if (text === undefined) throw new MillraceError('invalid', 'the event is not JSON', { field: 'event' })
  return text
}

/** `Last-Event-ID` semantics: 0 or any later place, also beyond the end; anything else is `invalid`. */
export function checkCursor(after: number): void {
  if (!(after >= 0)) throw new MillraceError('invalid', `after ${after} is no place in a log`, { field: 'after' })
}

/** How many sessions `list` gives at most. */
export function pageSize(limit = 100): number {
  return Number.isNaN(limit) ? 100 : Math.max(1, Math.min(500, Math.floor(limit)))
}

/** The time of a row: the draft's own, where it has one. */
export function draftTime(at: number | undefined, now: number): number {
  if (at !== undefined && !isTime(at)) {
    throw new MillraceError('invalid', `at ${at} is no time`, { field: 'at' })
  }
  return at ?? now
}
