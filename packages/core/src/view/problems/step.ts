import type { Recorded } from '../../event/run-event.ts'
import { type StreamProblem, type StreamProblemCode, streamProblems } from './code.ts'
import type { RunCheck, SessionCheck, Writable } from './state.ts'

/** Beyond this many ids in one run the linter follows no new ones: its memory is bounded, whatever a stream does. */
export const mostIds = 100_000

/** The work on one row. The tracks are copies of its own, made once and changed in place: seven rules read each row. */
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

/** Room for one more id; says so once when there is none. */
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

/** Every id was followed so far, so one that is not known was never there. */
export function followsAll({ run }: Step): boolean {
  return run.ids <= mostIds
}

/** A name inside a sentence: in quotes, and short. */
export function quoted(name: unknown): string {
  const text = typeof name === 'string' ? name : String(name)
  return `"${text.length > 80 ? `${text.slice(0, 80)}…` : text}"`
}
