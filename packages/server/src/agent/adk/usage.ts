import { type AdkEvent, addUsage, isPartial, type NodeId, type Usage, usageOf } from '@millrace/core'

/** Adds up what the models of a run reported. Partials are left out: their aggregate reports the same usage again. */
export function usageCounter(): { take(event: AdkEvent): void; total(calls: Map<NodeId | undefined, number>): Usage } {
  let usage: Usage = {}
  return {
    take(event) {
      if (!isPartial(event)) usage = addUsage(usage, usageOf(event.usageMetadata) ?? {})
    },
    total(calls) {
      return { ...usage, modelCalls: [...calls.values()].reduce((sum, count) => sum + count, 0) }
    },
  }
}
