import type { LlmRequest } from '@google/adk'
import type { JsonObject } from '@millrace/core'
import type { ModelSettings } from './settings.ts'

/** What a model call is made with, besides the request itself. */
export interface ModelBinding {
  readonly settings: ModelSettings
  readonly agent: string
  readonly state: JsonObject
}

/**
 * ADK hands a model nothing but the request, and an agent file makes its model before anybody knows the settings. So
 * the engine ties the two together per request: no global, two servers in one process may differ.
 */
const bindings = new WeakMap<LlmRequest, ModelBinding>()

export function bindRequest(request: LlmRequest, binding: ModelBinding): void {
  bindings.set(request, binding)
}

/** For a request that no engine bound (an agent run by ADK's own runner): offline, and the name ADK puts in a label. */
export function bindingOf(request: LlmRequest): ModelBinding {
  return bindings.get(request) ?? { settings: {}, agent: request.config?.labels?.adk_agent_name ?? '', state: {} }
}
