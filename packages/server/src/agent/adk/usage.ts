import type { AdkEvent, NodeId, Usage } from '@millrace/core'

/** Adds up what the models of a run said they used. Partials repeat what their aggregate says. */
export function usageCounter(): { take(event: AdkEvent): void; total(calls: Map<NodeId | undefined, number>): Usage } {
  let input = 0
  let output = 0
  let thoughts = 0
  let cached = 0
  let all = 0
  return {
    take({ partial, usageMetadata: usage }) {
      if (partial === true || usage === undefined) return
      input += usage.promptTokenCount ?? 0
      output += usage.candidatesTokenCount ?? 0
      thoughts += usage.thoughtsTokenCount ?? 0
      cached += usage.cachedContentTokenCount ?? 0
      all += usage.totalTokenCount ?? 0
    },
    total(calls) {
      return {
        modelCalls: [...calls.values()].reduce((sum, count) => sum + count, 0),
        ...(all === 0 ? {} : { inputTokens: input, outputTokens: output, totalTokens: all }),
        ...(thoughts === 0 ? {} : { reasoningTokens: thoughts }),
        ...(cached === 0 ? {} : { cachedInputTokens: cached }),
      }
    },
  }
}
