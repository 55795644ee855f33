import { isBelow, mostSpeakers } from '../../../event/branch.ts'
import type { NodeId } from '../../../event/run-event.ts'

interface Lane {
  readonly branch: string
  readonly author: string
  readonly node: NodeId
  /** It is in the middle of a message. */
  streaming: boolean
}

/**
 * Nodes for a log that has none: ADK's own wire does not say when an agent starts or ends. Who speaks on a branch is a
 * node until another agent speaks there; what ran on the branches below it is over when a branch speaks again. Nobody is
 * over in the middle of a message.
 */
export class StudioSpeakers {
  readonly #open = new Map<string, Lane>()
  #last: Lane | undefined

  /** Who speaks now: which nodes are over by that, and the node that speaks, fresh if it starts with this. */
  enter(
    { branch = '', author, partial = false }: { branch?: string; author: string; partial?: boolean },
    fresh: () => NodeId,
  ): { left: readonly NodeId[]; node: NodeId; starts: boolean } {
    const last = this.#last
    if (last?.branch === branch && last.author === author) {
      last.streaming = partial // who speaks again ends nobody that it has not ended before
      return { left: [], node: last.node, starts: false }
    }
    const own = `${branch}\n${author}`
    const left: NodeId[] = []
    for (const [key, lane] of [...this.#open].reverse()) {
      if (key === own || lane.streaming || !(lane.branch === branch || isBelow(lane.branch, branch))) continue
      left.push(lane.node)
      this.#open.delete(key)
    }
    const known = this.#open.get(own)
    const [oldest] = known === undefined && this.#open.size >= mostSpeakers ? this.#open : []
    if (oldest !== undefined) {
      left.push(oldest[1].node)
      this.#open.delete(oldest[0])
    }
    const lane = known ?? { branch, author, node: fresh(), streaming: partial }
    lane.streaming = partial
    this.#open.set(own, lane)
    this.#last = lane
    return { left, node: lane.node, starts: known === undefined }
  }
}
