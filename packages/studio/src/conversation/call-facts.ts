import { type Execution, type LiveLog, type Timeline, timelineView } from '@millrace/core'
import { useView } from '@millrace/react'
import { useMemo } from 'react'
import { type Failures, failuresView } from '../problems/failures.ts'
import type { Actions } from './actions.ts'

/** What the cards of tool calls need to know of the rest of their session. */
export function useCallFacts(log: LiveLog): Pick<Actions, 'rejected' | 'callTimes'> {
  const rejected = useView(log, failuresView, { select: rejectedOf })
  const executions = useView(log, timelineView, { select: executionsOf })
  const callTimes = useMemo(() => timesOf(executions.toArray()), [executions])
  return { rejected, callTimes }
}

const rejectedOf = ({ rejected }: Failures): ReadonlySet<string> => rejected
const executionsOf = ({ executions }: Timeline): Timeline['executions'] => executions

/** Calls of one turn get their answers in one event, but those that ran as steps have times of their own. */
function timesOf(executions: readonly Execution[]): ReadonlyMap<string, number> {
  return new Map(
    executions.flatMap(({ call, duration }) =>
      call === undefined || duration === undefined ? [] : [[call, duration]],
    ),
  )
}
