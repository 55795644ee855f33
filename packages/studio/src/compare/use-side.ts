import { callsView, stateView, transcriptView, usageView } from '@millrace/core'
import { useConnectionState, useSession, useView } from '@millrace/react'
import { useMemo } from 'react'
import { cutEnds, runsView } from '../session/runs.ts'
import { type SideFacts, sideFacts } from './side-facts.ts'
import type { ComparedSide } from './sides.ts'

/** The facts of one side, as its session grows. */
export function useSide({ session, run }: ComparedSide): SideFacts {
  const { log } = useSession(session)
  const transcript = useView(log, transcriptView)
  const usage = useView(log, usageView)
  const calls = useView(log, callsView)
  const state = useView(log, stateView)
  const runs = useView(log, runsView)
  const cuts = useMemo(() => cutEnds(log, runs), [log, runs])
  return useMemo(
    () => sideFacts({ transcript, usage, calls, state, cuts }, run),
    [transcript, usage, calls, state, cuts, run],
  )
}

/** Whether nothing of the session has arrived yet, so that nothing can be said about it. */
export function useIsLoading({ session }: ComparedSide): boolean {
  const handle = useSession(session)
  const { phase } = useConnectionState(handle)
  const hasRows = useView(handle.log, anyRowView)
  return phase === 'connecting' && !hasRows
}

const anyRowView = { name: 'any-row', initial: false, apply: () => true }
