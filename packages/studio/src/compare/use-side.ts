import { callsView, stateView, type Transcript, transcriptView, usageView } from '@millrace/core'
import { useConnectionState, useSession, useView } from '@millrace/react'
import { useMemo } from 'react'
import { navigate } from '../app/route.ts'
import { type Actions, noActions } from '../conversation/actions.ts'
import { useCallFacts } from '../conversation/call-facts.ts'
import { cutEnds, runsView } from '../session/runs.ts'
import { openStep } from '../step/open-step.ts'
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

/** What the rows of one side can do: open their moments and steps, on the page of their own session. */
export function useSideActions({ session, run }: ComparedSide): Actions {
  const { log } = useSession(session)
  const { rejected, callTimes } = useCallFacts(log)
  const activeRun = useView(log, transcriptView, { select: runAtWork })
  const working = activeRun !== undefined && (run ?? activeRun) === activeRun
  return useMemo(
    () => ({
      ...noActions,
      working,
      rejected,
      callTimes,
      goTo: (at) => navigate({ session, compare: undefined, at }),
      openStep: (at, key) => openStep(at, key, session),
    }),
    [session, working, rejected, callTimes],
  )
}

const runAtWork = ({ latest }: Transcript): string | undefined =>
  latest?.status === 'running' ? latest.run : undefined

/** Whether nothing of the session has arrived yet, so that nothing can be said about it. */
export function useIsLoading({ session }: ComparedSide): boolean {
  const handle = useSession(session)
  const { phase } = useConnectionState(handle)
  const hasRows = useView(handle.log, anyRowView)
  return phase === 'connecting' && !hasRows
}

const anyRowView = { name: 'any-row', initial: false, apply: () => true }
