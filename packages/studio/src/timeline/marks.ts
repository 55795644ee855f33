import type { Recorded, View } from '@millrace/core'
import { Sequence } from '@millrace/core/persistent'

/** A moment that gets a flag on the axis. */
export interface TimelineMark {
  readonly seq: number
  readonly kind: 'run' | 'interrupt' | 'failed' | 'cancelled'
  readonly text: string
}

export interface TimelineMarks {
  readonly list: Sequence<TimelineMark>
  readonly runs: number
}

/** The starts of runs, the questions to the user, and the failures. */
export const timelineMarksView: View<TimelineMarks> = {
  name: 'marks',
  initial: { list: Sequence.empty, runs: 0 },
  apply(state, row) {
    const mark = markOf(row, state.runs)
    if (mark === undefined) return state
    return { list: state.list.append(mark), runs: state.runs + (mark.kind === 'run' ? 1 : 0) }
  },
}

function markOf({ seq, event }: Recorded, runs: number): TimelineMark | undefined {
  if (event.kind === 'run.started') return { seq, kind: 'run', text: `Run ${runs + 1}` }
  if (event.kind === 'interrupt') return { seq, kind: 'interrupt', text: event.message ?? 'The agent asked a question' }
  if (event.kind === 'run.finished' && event.outcome === 'failed' && event.error?.code === 'cut') {
    return { seq, kind: 'cancelled', text: 'The recording was cut off here' }
  }
  if (event.kind === 'run.finished' && event.outcome === 'failed') {
    return { seq, kind: 'failed', text: event.error?.message ?? 'The run failed' }
  }
  if (event.kind === 'run.finished' && event.outcome === 'cancelled') {
    return { seq, kind: 'cancelled', text: 'The run was stopped' }
  }
  if (event.kind === 'agent' && event.event.errorCode !== undefined) {
    return { seq, kind: 'failed', text: event.event.errorMessage ?? event.event.errorCode }
  }
  return undefined
}
