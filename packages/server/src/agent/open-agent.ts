import { agentSession } from '@millrace/core/store'
import type { Agent, RunContext } from './agent.ts'
import { loadAgentFile } from './agent-file.ts'
import { changedPrompt } from './changed-prompt.ts'
import type { AgentConfig, AgentFile } from './exported.ts'
import { lazyStream } from './lazy-stream.ts'
import { type ModelSettings, secretsOf } from './model/settings.ts'
import { knowSecrets } from './own-secrets.ts'
import { withoutSecretTexts } from './shown-description.ts'

/** Loads the file and opens its agent: the one place where an author's code enters this process. */
export async function openAgent(name: string, file: string, models: ModelSettings, again: boolean): Promise<Agent> {
  knowSecrets(secretsOf(models))
  const loaded = await loadAgentFile(file, again)
  const hook = async () => loaded.engine.hookModels?.(file)
  if (models.tape !== undefined) await hook()
  return openFile(name, loaded, models, hook)
}

function openFile(name: string, file: AgentFile, models: ModelSettings, hook: () => Promise<void>): Agent {
  const { engine, title, factory, ...loaded } = file
  const agent = engine.open(name, loaded, models)
  return {
    name,
    async describe() {
      const described = withoutSecretTexts(await agent.describe())
      const named = title === undefined ? described : { ...described, title }
      if (engine.hookModels === undefined) return named
      return { ...named, capabilities: { ...described.capabilities, changedPrompts: true } }
    },
    run: (input, context) => {
      const isChanged = changedPrompt(context) !== undefined
      if (factory === undefined && !isChanged) return agent.run(input, context)
      return lazyStream(async () => {
        if (isChanged) await hook()
        if (factory === undefined) return agent.run(input, context)
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
