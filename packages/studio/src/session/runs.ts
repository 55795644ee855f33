import {
  defined,
  isUnseenEnd,
  type LiveLog,
  type Outcome,
  type ProblemCode,
  type Recorded,
  type View,
} from '@millrace/core'
import { Sequence } from '@millrace/core/persistent'
import { rowIndexAt } from './row-index.ts'

/** One run of the session: its place in the log and how it ended. */
export interface RunSpan {
  readonly run: string
  /** 1 for the first run of the session. */
  readonly number: number
  readonly agent: string
  /** The first line of the message that started it; empty if it continues an earlier run. */
  readonly text: string
  /** Why it began: a message, the answer to a question, or a person who executes the plan. */
  readonly cause: 'message' | 'answer' | 'plan'
  /** It made or changed the plan. */
  readonly plans?: boolean
  readonly startSeq: number
  readonly startedAt: number
  readonly endSeq?: number
  readonly endedAt?: number
  readonly outcome?: Outcome
  readonly code?: ProblemCode
}

/** The runs in the order of their starts. */
export const runsView: View<Sequence<RunSpan>> = {
  name: 'runs',
  initial: Sequence.empty,
  apply(runs, row) {
    const { event } = row
    if (event.kind === 'run.started') return runs.append(started(row, runs.length + 1))
    if (event.kind === 'tasks' || event.kind === 'tasks.changed') return planned(runs, row.run)
    if (event.kind !== 'run.finished') return runs
    for (let i = runs.length - 1; i >= 0; i--) {
      const known = runs.at(i)
      if (known?.run !== row.run || known.endSeq !== undefined) continue
      const { outcome, error } = event
      return runs.with(i, defined({ ...known, endSeq: row.seq, endedAt: row.at, outcome, code: error?.code }))
    }
    return runs
  },
}

function started({ event, run, seq, at }: Recorded, number: number): RunSpan {
  if (event.kind !== 'run.started') throw new Error('a run begins with run.started')
  const { messages, resume, props } = event.input
  const said = messages.findLast(({ role }) => role === 'user')?.content?.parts ?? []
  const text = said.flatMap((part) => (typeof part.text === 'string' ? [part.text] : [])).join(' ')
  const cause = props?.mode === 'execute' ? 'plan' : (resume ?? []).length > 0 ? 'answer' : 'message'
  return { run, number, agent: event.agent, text: text.split('\n')[0] ?? '', cause, startSeq: seq, startedAt: at }
}

/** The run that is executing the plan changes the tasks, too, but the plan is where it was made. */
function planned(runs: Sequence<RunSpan>, run: string): Sequence<RunSpan> {
  const last = runs.at(runs.length - 1)
  if (last === undefined || last.run !== run || last.cause === 'plan' || last.plans === true) return runs
  return runs.with(runs.length - 1, { ...last, plans: true })
}

/**
 * The last event of a run that was cut off; undefined for every other run. The end of the run and of its open steps was
 * written when the server started again, which says nothing about how long they worked.
 */
export function lastSignOf({ rows }: LiveLog, { run, startSeq, endSeq, code }: RunSpan): Recorded | undefined {
  if (endSeq === undefined || !isUnseenEnd({ code })) return undefined
  for (let i = rowIndexAt(rows, endSeq) - 1; i >= 0; i--) {
    const row = rows[i]
    if (row === undefined || row.seq < startSeq) return undefined
    if (row.run === run && !isLateEnd(row)) return row
  }
  return undefined
}

/** Whether the row closes a run or a step whose real end is unknown. */
export function isLateEnd({ event }: Recorded): boolean {
  return (event.kind === 'run.finished' || event.kind === 'node.finished') && isUnseenEnd(event.error)
}

/** How long a run worked, in milliseconds; undefined while it works. */
export function workedFor(log: LiveLog, run: RunSpan): number | undefined {
  const end = lastSignOf(log, run)?.at ?? run.endedAt
  return end === undefined ? undefined : end - run.startedAt
}

/** The real end of a run that was cut off: the time of its last event, and how long it had worked, in milliseconds. */
export interface CutEnd {
  readonly at: number
  readonly worked: number
}

/** The runs that were cut off, by the seq of their `run.finished`. */
export function cutEnds(log: LiveLog, runs: Sequence<RunSpan>): ReadonlyMap<number, CutEnd> {
  const ends = new Map<number, CutEnd>()
  for (const run of runs.toArray()) {
    const last = lastSignOf(log, run)
    if (last === undefined || run.endSeq === undefined) continue
    ends.set(run.endSeq, { at: last.at, worked: last.at - run.startedAt })
  }
  return ends
}
