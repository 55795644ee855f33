import type { NodeId } from '../../../event/run-event.ts'

/** The keys that open nodes have written since their last frame that showed them. */
export class UnprintedState {
  readonly #keys = new Map<NodeId, Set<string>>()

  add(node: NodeId, keys: readonly string[]): void {
    const known = this.#keys.get(node) ?? new Set()
    for (const key of keys) known.add(key)
    this.#keys.set(node, known)
  }

  drop(node: NodeId): void {
    this.#keys.delete(node)
  }

  take(): readonly (readonly [node: NodeId, keys: readonly string[]])[] {
    if (this.#keys.size === 0) return []
    const all = [...this.#keys].map(([node, keys]) => [node, [...keys]] as const)
    this.#keys.clear()
    return all
  }
}
