import type { LlmRequest } from '@google/adk'
import type { JsonObject } from '@millrace/core'
import type { PartialTaker } from './partial-taker.ts'
import type { ModelSettings } from './settings.ts'

/** What a model call needs besides the request itself. */
export interface ModelBinding {
  readonly settings: ModelSettings
  readonly agent: string
  readonly state: JsonObject
  /** Records a warning in the log of the run. */
  readonly report?: (message: string) => void
  /** What becomes of partial answers; absent: they go the way of all answers. */
  readonly partials?: PartialTaker
}

/**
 * ADK passes a model nothing but the request, and an agent's file makes its model before the settings are known. So the
 * engine binds the settings to each request. There is no global: two servers in one process may have different settings.
 */
const bindings = new WeakMap<LlmRequest, ModelBinding>()

export function bindRequest(request: LlmRequest, binding: ModelBinding): void {
  bindings.set(request, binding)
}

/** A request that no engine bound (an agent run by ADK's own runner) is offline, with the name that ADK puts in a label. */
export function bindingOf(request: LlmRequest): ModelBinding {
  return bindings.get(request) ?? { settings: {}, agent: request.config?.labels?.adk_agent_name ?? '', state: {} }
}
