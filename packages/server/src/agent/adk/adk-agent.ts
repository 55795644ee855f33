import { defined, MillraceError } from '@millrace/core'
import { idInKey } from '@millrace/core/store'
import type { Agent, AgentDescription, EngineDescription } from '../agent.ts'
import { brokenDescription } from '../broken-description.ts'
import { lazyStream } from '../lazy-stream.ts'
import type { ModelSettings } from '../model/settings.ts'
import { messageOf } from '../problem.ts'
import type { LoadedAdkAgent } from './loaded-agent.ts'

/** ADK's default for the model calls of a run: agents with many tools need dozens of them. */
const maxCalls = 500

export interface AdkAgentOptions {
  readonly models?: ModelSettings
  readonly description?: string
  readonly examples?: readonly string[]
  readonly resumable?: boolean
  /** Model calls in one execution of one agent: 500, as ADK's own `RunConfig` has it. */
  readonly maxLlmCalls?: number
  /** Model calls in one run, specialists and loops included: 500, or `maxLlmCalls` if that is more. */
  readonly maxLlmCallsPerRun?: number
  /** Characters of JSON that a tool may return: one million. */
  readonly maxToolResult?: number
  /** Characters of JSON of one artifact: three million. The run engine bounds every event (four million). */
  readonly maxArtifact?: number
}

/** What the engine says of itself in the description of each of its agents. */
export const adkAbout: EngineDescription = {
  engine: 'adk',
  engineLabel: 'ADK',
  capabilities: {
    parallelToolCalls: true,
    clientTools: true,
    reasoning: true,
    openQuestions: true,
    runsOn: true,
    changedPrompts: true,
  },
}

/**
 * An agent that runs on @google/adk. `load` returns its `rootAgent` (an agent, a workflow or an App) and is called once,
 * when the agent is first described or run. @google/adk itself is imported then, and not before.
 */
export function adkAgent(name: string, load: () => Promise<unknown>, options: AdkAgentOptions = {}): Agent {
  const { models = {}, description, examples = [], resumable = false } = options
  const settings = {
    name,
    settings: models,
    resumable,
    limits: {
      maxLlmCalls: options.maxLlmCalls ?? maxCalls,
      maxLlmCallsPerRun: options.maxLlmCallsPerRun ?? Math.max(maxCalls, options.maxLlmCalls ?? 0),
      maxToolResult: options.maxToolResult ?? 1_000_000,
      maxArtifact: options.maxArtifact ?? 3_000_000,
    },
  }
  let loading: Promise<LoadedAdkAgent> | undefined
  const loaded = (): Promise<LoadedAdkAgent> => {
    if (loading !== undefined) return loading
    const mine = (async () => {
      // This module first: it silences ADK's logger, and the agent's file may already make ADK print.
      const { loadAdkAgent } = await import('./loaded-agent.ts')
      return loadAdkAgent(await load())
    })()
    loading = mine
    // A load that failed is tried again: its reason may be gone.
    mine.catch(() => {
      if (loading === mine) loading = undefined
    })
    return mine
  }
  return {
    name,
    async describe(): Promise<AgentDescription> {
      const own = { name, examples, resumable }
      try {
        const described = (await loaded()).describe(settings)
        return { ...own, ...adkAbout, ...described, description: description ?? described.description }
      } catch (error) {
        return { ...brokenDescription(name, messageOf(error)), ...own, ...defined({ description }) }
      }
    },
    run: (input, context) =>
      lazyStream(async () => {
        try {
          // ADK names a session by its user and its id.
          const own = { ...context, session: idInKey(context.session) }
          return (await loaded()).run(input, own, settings)
        } catch (error) {
          throw new MillraceError(
            'agent-error',
            `The agent '${name}' could not be loaded: ${messageOf(error)}`,
            {},
            error,
          )
        }
      }),
  }
}
