import { useEffect } from 'react'
import { useSessions } from './sessions.ts'

/**
 * Whether no agent of this name is on this server, as for the recording of another system: such a session can be read,
 * but not continued. False until the list of agents is known.
 */
export function useAgentAbsent(agent: string): boolean {
  const absent = useSessions(({ agents, agentsReady }) => agentsReady && agents.every(({ name }) => name !== agent))
  const loadAgents = useSessions((state) => state.loadAgents)
  // The agent may have been added after the page was opened.
  useEffect(() => {
    if (absent && agent !== '') void loadAgents()
  }, [absent, agent, loadAgents])
  return absent
}
