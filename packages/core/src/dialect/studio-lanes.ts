import type { NodeId } from '../event/run-event.ts'

/**
 * Nodes for a log that has none: ADK's own wire does not say when an agent starts or ends. Who speaks on a branch is a
 * node until another agent speaks there; what ran on the branches below it is over when a branch speaks again.
 */
export class Lanes {
  readonly #open = new Map<string, { readonly author: string; readonly node: NodeId }>()

  /** Who speaks now: which nodes are over by that, and the node that speaks, fresh if it starts with this. */
  enter(
    branch: string,
    author: string,
    fresh: () => NodeId,
  ): { left: readonly NodeId[]; node: NodeId; starts: boolean } {
    const left: NodeId[] = []
    for (const [other, lane] of [...this.#open].reverse()) {
      const over = other === branch ? lane.author !== author : isBelow(other, branch)
      if (!over) continue
      left.push(lane.node)
      this.#open.delete(other)
    }
    const lane = this.#open.get(branch)
    if (lane !== undefined) return { left, node: lane.node, starts: false }
    return { left, node: this.#start(branch, author, fresh()), starts: true }
  }

  #start(branch: string, author: string, node: NodeId): NodeId {
    this.#open.set(branch, { author, node })
    return node
  }
}

function isBelow(branch: string, above: string): boolean {
  return above === '' ? branch !== '' : branch.startsWith(`${above}.`)
}
