import { setTimeout as wait } from 'node:timers/promises'
import type { Agent, AgentDescription } from './agent.ts'

/** How often an agent that is still loading is asked again, in ms. */
const askEvery = 100

/** The agent's description once its code has loaded. After `patience` ms it may still be that of an agent that is loading. */
export async function describedWhenLoaded(agent: Agent, patience: number): Promise<AgentDescription> {
  for (let waited = 0; ; waited += askEvery) {
    const description = await agent.describe()
    if (description.engine !== 'loading' || waited >= patience) return description
    await wait(askEvery)
  }
}
