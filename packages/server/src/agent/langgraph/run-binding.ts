import type { RunnableConfig } from '@langchain/core/runnables'
import { getConfig } from '@langchain/langgraph'
import { isObject } from '@millrace/core'
import type { ModelSettings } from '../model/settings.ts'
import { type GraphPrompt, promptIn } from './graph-prompt.ts'

/** What a model call needs to know about its run. */
export interface RunBinding {
  readonly settings: ModelSettings
  /** The node that calls. */
  readonly agent: string
  readonly config: RunnableConfig
  readonly prompt: GraphPrompt | undefined
}

/** The model settings and the node: the graph's own configuration carries both. */
export function runBinding(): RunBinding {
  const config = (getConfig() ?? {}) as RunnableConfig
  const given: unknown = config.configurable?.millrace
  const settings = isObject(given) && isObject(given.models) ? (given.models as ModelSettings) : {}
  return { settings, agent: String(config.metadata?.langgraph_node ?? ''), config, prompt: promptIn(given) }
}
