import type { Agent, AgentDescription } from '../agent/agent.ts'
import { describedWhenLoaded } from '../agent/when-loaded.ts'

/** How long to wait, in ms, for an agent to describe itself: its code may have to be loaded, in a process of its own. */
const patience = 30_000

/** What the agent says of itself; undefined when it fails or takes too long. */
export async function describeAgent(agent: Agent): Promise<AgentDescription | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, patience, undefined)
  })
  try {
    return await Promise.race([describedWhenLoaded(agent, patience), late])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
