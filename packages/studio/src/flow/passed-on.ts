import type { FlowEdge, FlowKey } from '@millrace/core'

/**
 * The keys of an edge that its source changed. A key that came to the source with the same value along another edge is
 * only passed on: without this rule, every edge after a step repeats all keys of the steps before it.
 */
export function changedOn(edge: FlowEdge, edges: readonly FlowEdge[]): readonly FlowKey[] {
  const before = edges.filter(({ id, to, count }) => to === edge.from && id !== edge.id && count > 0)
  return edge.keys.filter(
    ({ key, value, seq }) =>
      !before.some(({ keys }) =>
        keys.some((other) => other.key === key && other.seq <= seq && isEqual(other.value, value)),
      ),
  )
}

/** Values of the state are shared between the events that hold them, so that most comparisons end at once. */
function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object') return false
  return JSON.stringify(a) === JSON.stringify(b)
}
