import { useEffect, useState } from 'react'
import { useSessions } from './sessions.ts'

/** Milliseconds between two polls. The list shows the status of running sessions, which must not become stale. */
const pollEvery = 4000

/** Keeps the list of sessions fresh while the page is visible, also where the list itself is hidden: notices need it. */
export function useSessionPolling(): void {
  useRepeated(() => {
    const { refresh, status, agentsReady, loadAgents } = useSessions.getState()
    void refresh()
    // A connection that was lost just then has left the page without its agents.
    if (status !== 'loading' && status !== 'unauthorized' && !agentsReady) void loadAgents()
  })
}

/** The time, for the ages in a list. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useRepeated(() => setNow(Date.now()))
  return now
}

function useRepeated(act: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: both callers pass what never changes
  useEffect(() => {
    const ask = (): void => {
      if (!document.hidden) act()
    }
    ask()
    const timer = setInterval(ask, pollEvery)
    document.addEventListener('visibilitychange', ask)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', ask)
    }
  }, [])
}
