import { MillraceError } from '@millrace/core'
import type { Agent, AgentDescription } from '../agent.ts'
import { lazyStream } from '../lazy-stream.ts'
import type { ModelSettings } from '../model/settings.ts'
import { messageOf } from '../problem.ts'
import type { AdkEngine } from './engine.ts'

export interface AdkAgentOptions {
  readonly models?: ModelSettings
  readonly description?: string
  readonly examples?: readonly string[]
  readonly resumable?: boolean
  /** Model calls in one execution of one agent: 20. */
  readonly maxLlmCalls?: number
  /** Model calls in one run, specialists and loops included: 100. */
  readonly maxLlmCallsPerRun?: number
  /** Characters of JSON that a tool may return: one million. */
  readonly maxToolResult?: number
  /** Characters of JSON of one artifact: three million. The run engine bounds every event (four million). */
  readonly maxArtifact?: number
}

/**
 * An ADK agent behind the port. `load` gives its `rootAgent` (an agent, a workflow or an App of @google/adk) and is
 * called once, when the agent is first described or run; @google/adk itself is imported then, and not before.
 */
export function adkAgent(name: string, load: () => Promise<unknown>, options: AdkAgentOptions = {}): Agent {
  const { models = {}, description, examples = [], resumable = false } = options
  const settings = {
    name,
    settings: models,
    limits: {
      maxLlmCalls: options.maxLlmCalls ?? 20,
      maxLlmCallsPerRun: options.maxLlmCallsPerRun ?? 100,
      maxToolResult: options.maxToolResult ?? 1_000_000,
      maxArtifact: options.maxArtifact ?? 3_000_000,
    },
  }
  let loading: Promise<AdkEngine> | undefined
  const engine = (): Promise<AdkEngine> => {
    loading ??= (async () => {
      // First the engine, which silences ADK's logger, then the agent's file, which may already make it speak.
      const { adkEngine } = await import('./engine.ts')
      return adkEngine(await load())
    })()
    return loading
  }
  return {
    name,
    async describe(): Promise<AgentDescription> {
      const own = { name, examples, resumable }
      try {
        const described = (await engine()).describe(settings)
        return { ...own, engine: 'adk', ...described, description: description ?? described.description }
      } catch (error) {
        const graph = { nodes: [], edges: [] }
        return { ...own, engine: 'broken', description: description ?? '', graph, error: messageOf(error) }
      }
    },
    run: (input, context) =>
      lazyStream(async () => {
        try {
          return (await engine()).run(input, context, settings)
        } catch (error) {
          throw new MillraceError('agent-error', `The agent '${name}' does not load: ${messageOf(error)}`, {}, error)
        }
      }),
  }
}
