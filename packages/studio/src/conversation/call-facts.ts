import { type Execution, type LiveLog, type Timeline, timelineView, type View } from '@millrace/core'
import { Dictionary } from '@millrace/core/persistent'
import { useView } from '@millrace/react'
import { useMemo } from 'react'
import { type Failures, failuresView } from '../problems/failures.ts'
import type { Actions } from './actions.ts'

/** What the cards of tool calls need to know of the rest of their session. */
export function useCallFacts(log: LiveLog): Pick<Actions, 'rejected' | 'callTimes'> {
  const rejected = useView(log, failuresView, { select: rejectedOf })
  const executions = useView(log, timelineView, { select: executionsOf })
  const recorded = useView(log, toolTimesView)
  const callTimes = useMemo(() => timesOf(executions.toArray(), recorded), [executions, recorded])
  return { rejected, callTimes }
}

const rejectedOf = ({ rejected }: Failures): ReadonlySet<string> => rejected
const executionsOf = ({ executions }: Timeline): Timeline['executions'] => executions

/** How long tools ran, by the ids of their calls, where the log has a record of it. */
export const toolTimesView: View<Dictionary<number>> = {
  name: 'tool times',
  initial: Dictionary.empty,
  apply: (times, { event }) => (event.kind === 'tool.finished' ? times.set(event.call, event.duration) : times),
}

/**
 * Calls of one turn get their answers in one event, but those that ran as steps have times of their own. The record of a
 * call counts for more: the step of the call, which its card opens, shows that figure.
 */
export function timesOf(executions: readonly Execution[], recorded: Dictionary<number>): ReadonlyMap<string, number> {
  const steps = executions.flatMap(({ call, duration }) =>
    call === undefined || duration === undefined ? [] : [[call, duration] as const],
  )
  return new Map([...steps, ...recorded])
}
