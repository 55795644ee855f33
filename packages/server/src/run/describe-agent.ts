import type { Agent, AgentDescription } from '../agent/agent.ts'
import { loadingDescription } from '../agent/broken-description.ts'
import { describedWhenLoaded } from '../agent/when-loaded.ts'

/**
 * What the agent says of itself; undefined when it fails. Its code may have to be loaded, in a process of its own: after
 * `patience` ms, the description is that of an agent that is still loading.
 */
export async function describeAgent(agent: Agent, patience = 30_000): Promise<AgentDescription | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<AgentDescription>((resolve) => {
    timer = setTimeout(resolve, patience, loadingDescription(agent.name, 'it is still loading'))
  })
  try {
    return await Promise.race([describedWhenLoaded(agent, patience), late])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
