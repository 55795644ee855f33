import type { Agent, AgentDescription } from '../agent/agent.ts'

/** How long to wait, in ms, for an agent to describe itself: its code may have to be loaded. */
const patience = 10_000

/** What the agent says of itself; undefined when it fails or takes too long. */
export async function describeAgent(agent: Agent): Promise<AgentDescription | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, patience, undefined)
  })
  try {
    return await Promise.race([agent.describe(), late])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
