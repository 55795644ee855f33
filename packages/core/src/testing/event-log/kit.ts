import { MillraceError } from '../../event/problem.ts'
import type { Draft, Outcome, Recorded, RunEvent } from '../../event/run-event.ts'
import type { EventLog, NewSession, SessionInfo, Signal } from '../../log/event-log.ts'
import type { Runner } from '../runner.ts'

/** Makes an empty log on the given clock. The suite closes it; cleaning up behind it is the caller's. */
export type MakeLog = (now: () => number) => EventLog | Promise<EventLog>

export interface TestClock {
  readonly now: () => number
  pass(ms: number): void
}

/** What each part of the suite is given. */
export interface Kit extends Runner {
  /** One test on a fresh log. */
  check(name: string, body: (log: EventLog, clock: TestClock) => Promise<void>): void
}

export function kitOf({ describe, test, expect }: Runner, makeLog: MakeLog): Kit {
  const check: Kit['check'] = (name, body) => {
    test(name, async () => {
      const clock = newClock()
      const log = await makeLog(clock.now)
      try {
        await body(log, clock)
      } finally {
        await log.close()
      }
    })
  }
  return { describe, test, expect, check }
}

export function newClock(): TestClock {
  let at = 1_700_000_000_000
  return {
    now: () => at,
    pass: (ms) => {
      at += ms
    },
  }
}

/** The code it was refused with; 'resolved' when it was not. */
export async function rejection(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt
    return 'resolved'
  } catch (error) {
    return error instanceof MillraceError ? error.code : `not a MillraceError: ${String(error)}`
  }
}

export const mine: NewSession = { id: 's', user: 'ann', agent: 'recovery' }

export const started: RunEvent = { kind: 'run.started', agent: 'recovery', input: { messages: [] } }
export const finished = (outcome: Outcome): RunEvent => ({ kind: 'run.finished', outcome })
export const note = (message: string): RunEvent => ({ kind: 'log', level: 'info', message })
export const partialEvent = (message: string, text: string, partial = false): RunEvent => ({
  kind: 'agent',
  message,
  event: {
    id: `${message}-${text}`,
    author: 'recovery',
    invocationId: 'i',
    timestamp: 1_700_000_000_000,
    content: { role: 'model', parts: [{ text }] },
    ...(partial ? { partial } : {}),
  },
})

/** Drafts of one run; run '' is a person's. */
export const drafts = (run: string, ...events: readonly RunEvent[]): readonly Draft[] =>
  events.map((event) => ({ run, event }))
export const notes = (count: number, from = 0): readonly Draft[] =>
  Array.from({ length: count }, (_, i) => ({ run: '', event: note(`${from + i}`) }))
export const seqs = (rows: readonly Recorded[]): readonly number[] => rows.map(({ seq }) => seq)
export const upTo = (last: number, first = 1): readonly number[] =>
  Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => first + i)

/** The session info that the rows themselves come to, counted by hand and not by the code under test (SPEC 2.8). */
export function recount(info: SessionInfo, rows: readonly Recorded[]): Partial<SessionInfo> {
  const starts = rows.filter(({ event }) => event.kind === 'run.started')
  const lastRun = starts.at(-1)?.run
  const end = rows.findLast(({ run, event }) => run === lastRun && event.kind === 'run.finished')?.event
  const status = end?.kind === 'run.finished' ? end.outcome : lastRun === undefined ? 'idle' : 'running'
  return {
    status,
    ...(end?.kind === 'run.finished' && end.error?.code === 'crashed' ? { cutOff: true } : {}),
    runs: starts.length,
    events: rows.length,
    lastSeq: rows.at(-1)?.seq ?? 0,
    updatedAt: Math.max(info.createdAt, ...rows.map(({ at }) => at)),
    ...(lastRun === undefined ? {} : { lastRun }),
  }
}

/** An AbortController without the DOM, which also counts its listeners. */
export function stopper(): { readonly signal: Signal; abort(): void; listeners(): number } {
  const listeners = new Set<() => void>()
  let aborted = false
  const signal: Signal = {
    get aborted() {
      return aborted
    },
    addEventListener: (_type, listener) => void listeners.add(listener),
    removeEventListener: (_type, listener) => void listeners.delete(listener),
  }
  return {
    signal,
    abort: () => {
      aborted = true
      for (const listener of [...listeners]) listener()
    },
    listeners: () => listeners.size,
  }
}
