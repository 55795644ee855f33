import { isUnseenEnd } from './problem.ts'
import type { Outcome } from './run-event.ts'

/** The words for the state of a session or a run. The page, the report and the command use no others. */
export type RunWord = 'not started' | 'running' | 'waiting' | 'done' | 'failed' | 'cancelled' | 'cut off'

const words: Readonly<Record<'idle' | 'running' | Outcome, RunWord>> = {
  idle: 'not started',
  running: 'running',
  done: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
  interrupted: 'waiting',
}

/** The word for a run. `code` is the reason of its end: a run without a known end is no failure. */
export function runWord(status: keyof typeof words, code?: string): RunWord {
  return status === 'failed' && isUnseenEnd({ code }) ? 'cut off' : words[status]
}

/** The word for a session: that of its last run. */
export function sessionWord({
  status,
  cutOff,
}: {
  readonly status: keyof typeof words
  readonly cutOff?: boolean
}): RunWord {
  return cutOff === true ? 'cut off' : words[status]
}
