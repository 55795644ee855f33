import { isBelow, mostSpeakers } from '../../../event/branch.ts'
import type { NodeId } from '../../../event/run-event.ts'

interface OpenSpeaker {
  readonly branch: string
  readonly author: string
  readonly node: NodeId
  /** Whether it is in the middle of a message. */
  streaming: boolean
}

/**
 * Nodes for a log that has none: ADK's own wire does not say when an agent starts or ends. An agent that speaks on a branch
 * is a node until another agent speaks there; the nodes on the branches below end when a branch speaks again. No node ends
 * in the middle of a message.
 */
export class StudioSpeakers {
  readonly #open = new Map<string, OpenSpeaker>()
  #last: OpenSpeaker | undefined

  /** The node of a token, where the agent that speaks is the one that spoke last: nothing starts or ends then. */
  again({ branch = '', author }: { branch?: string; author: string }): NodeId | undefined {
    const last = this.#last
    if (last?.branch !== branch || last.author !== author) return undefined
    last.streaming = true
    return last.node
  }

  /** An agent speaks: returns the nodes that this ends, and the agent's node, which `fresh` makes if it starts here. */
  enter(
    { branch = '', author, partial = false }: { branch?: string; author: string; partial?: boolean },
    fresh: () => NodeId,
  ): { left: readonly NodeId[]; node: NodeId; starts: boolean } {
    const last = this.#last
    if (last?.branch === branch && last.author === author) {
      last.streaming = partial // the same speaker again: it has ended all others before
      return { left: [], node: last.node, starts: false }
    }
    const own = `${branch}\n${author}`
    const left: NodeId[] = []
    for (const [key, speaker] of [...this.#open].reverse()) {
      if (key === own || speaker.streaming || !(speaker.branch === branch || isBelow(speaker.branch, branch))) continue
      left.push(speaker.node)
      this.#open.delete(key)
    }
    const known = this.#open.get(own)
    const [oldest] = known === undefined && this.#open.size >= mostSpeakers ? this.#open : []
    if (oldest !== undefined) {
      left.push(oldest[1].node)
      this.#open.delete(oldest[0])
    }
    const speaker = known ?? { branch, author, node: fresh(), streaming: partial }
    speaker.streaming = partial
    this.#open.set(own, speaker)
    this.#last = speaker
    return { left, node: speaker.node, starts: known === undefined }
  }
}
