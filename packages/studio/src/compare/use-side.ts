import { callsView, stateView, transcriptView, usageView } from '@millrace/core'
import { useSession, useView } from '@millrace/react'
import { useMemo } from 'react'
import { type SideFacts, sideFacts } from './side-facts.ts'
import type { ComparedSide } from './sides.ts'

/** The facts of one side, as its session grows. */
export function useSide({ session, run }: ComparedSide): SideFacts {
  const { log } = useSession(session)
  const transcript = useView(log, transcriptView)
  const usage = useView(log, usageView)
  const calls = useView(log, callsView)
  const state = useView(log, stateView)
  return useMemo(() => sideFacts({ transcript, usage, calls, state }, run), [transcript, usage, calls, state, run])
}
