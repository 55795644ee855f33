import type { LlmResponse } from '@google/adk'

/** genai types these as an enum that ADK does not export; on the wire they are these words. */
export function finish(reason: 'STOP' | 'MAX_TOKENS' | 'SAFETY'): Pick<LlmResponse, 'finishReason'> {
  return { finishReason: reason as NonNullable<LlmResponse['finishReason']> }
}
