import { type Execution, isUnseenEnd, type Outcome, type PlanTask, type RunWord } from '@millrace/core'
import type { Tone } from './controls.tsx'

/** The words for the state of a session, a run, a step or a tool call. The page uses no others. */
export type StateWord = RunWord

export const wordTones: Readonly<Record<StateWord, Tone>> = {
  'not started': 'soft',
  running: 'accent',
  waiting: 'warn',
  done: 'ok',
  failed: 'bad',
  cancelled: 'soft',
  'cut off': 'warn',
}

/** The words for the tasks of a plan. */
export const taskWords: Readonly<Record<PlanTask['status'], StateWord>> = {
  pending: 'not started',
  in_progress: 'running',
  done: 'done',
  failed: 'failed',
}

/** The word for a step. How an unfinished step ended depends on its run, if that has ended. */
export function stepWord(
  { status, superseded, error }: Pick<Execution, 'status' | 'superseded' | 'error'>,
  run: { readonly outcome?: Outcome; readonly code?: string } = {},
): StateWord {
  if (superseded === true) return 'cut off'
  if (status === 'running') return 'running'
  if (status === 'ok') return 'done'
  if (status === 'error' && !isUnseenEnd(error)) return 'failed'
  if (run.outcome === 'cancelled' || error?.code === 'cancelled') return 'cancelled'
  return status === 'error' || run.outcome === 'failed' || error?.code === 'cut' ? 'cut off' : 'waiting'
}
