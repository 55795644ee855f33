import type { Recorded } from '../../event/run-event.ts'
import { type StreamProblem, type StreamProblemCode, streamProblems } from './code.ts'
import type { RunCheck, SessionCheck, Writable } from './state.ts'

/** The linter tracks at most this many ids in one run, so that its memory is bounded. */
export const mostIds = 100_000

/** The work on one row. Run and session are copies, made once and changed in place, because many rules read each row. */
export interface Step {
  readonly row: Recorded
  run: Writable<RunCheck>
  readonly session: Writable<SessionCheck>
  readonly found: StreamProblem[]
}

export type Facts = Partial<Pick<StreamProblem, 'seq' | 'earlier' | 'node' | 'call'>>

export function addProblem(step: Step, code: StreamProblemCode, message: string, facts: Facts = {}): void {
  const [severity] = streamProblems[code]
  step.found.push({ code, severity, message, seq: step.row.seq, run: step.row.run, ...facts })
}

/** Whether there is room to track one more id. Reports once that there is none. */
export function follows(step: Step): boolean {
  const ids = step.run.ids + 1
  if (ids > mostIds + 1) return false
  step.run.ids = ids
  if (ids <= mostIds) return true
  addProblem(
    step,
    'too-much',
    `The run has more than ${mostIds} ids: messages, calls and nodes after these are not checked.`,
  )
  return false
}

/** Whether every id so far is tracked, so that an unknown id has never occurred. */
export function followsAll({ run }: Step): boolean {
  return run.ids <= mostIds
}

/** A name inside a sentence: in quotes, and short. */
export function quoted(name: unknown): string {
  const text = typeof name === 'string' ? name : String(name)
  return `"${text.length > 80 ? `${text.slice(0, 80)}…` : text}"`
}
