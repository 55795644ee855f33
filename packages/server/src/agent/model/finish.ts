import type { LlmResponse } from '@google/adk'

/** The field `finishReason`. genai types it as an enum that ADK does not export; its values are these strings. */
export function finish(reason: 'STOP' | 'MAX_TOKENS' | 'SAFETY'): Pick<LlmResponse, 'finishReason'> {
  return { finishReason: reason as NonNullable<LlmResponse['finishReason']> }
}
