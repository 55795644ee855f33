import { agentSession } from '@millrace/core/store'
import type { Agent, RunContext } from './agent.ts'
import { loadAgentFile } from './agent-file.ts'
import type { AgentConfig, AgentFile } from './exported.ts'
import { lazyStream } from './lazy-stream.ts'
import type { ModelSettings } from './model/settings.ts'

/** Loads the file and opens its agent: the one place where an author's code enters this process. */
export async function openAgent(name: string, file: string, models: ModelSettings, again: boolean): Promise<Agent> {
  return openFile(name, await loadAgentFile(file, again), models)
}

function openFile(name: string, file: AgentFile, models: ModelSettings): Agent {
  const { engine, title, factory, ...loaded } = file
  const agent = engine.open(name, loaded, models)
  return {
    name,
    describe: async () => ({ ...(await agent.describe()), ...(title === undefined ? {} : { title }) }),
    run: (input, context) => {
      if (factory === undefined) return agent.run(input, context)
      return lazyStream(async () => {
        const exported = await factory(configOf(name, context))
        return engine.open(name, { ...loaded, exported }, models).run(input, context)
      })
    },
  }
}

/** As `langgraph dev` has it: the thread is the session. */
function configOf(name: string, { session, run }: RunContext): AgentConfig {
  return { configurable: { thread_id: agentSession(session), run_id: run, assistant_id: name, graph_id: name } }
}
