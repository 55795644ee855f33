import type { NodeId } from '../../event/run-event.ts'
import type { JsonObject } from '../../json/json.ts'
import { OpenList } from '../bare-text/open-list.ts'

export interface OpenNode {
  readonly id: NodeId
  readonly name: string
  readonly step: number
  /** The state at the start of the node. */
  readonly input: JsonObject
  /** When it started, in milliseconds; 0 in a decoder, which does not need it. */
  readonly at: number
  /**
   * Its snapshots are the entire state, as in the schema, and not what a node read or wrote, as from ADK Studio's
   * server.
   */
  readonly whole: boolean
}

/**
 * The nodes of one run. The wire names a node by its name and step, so the id of the n-th `writer` is `writer@n`, its
 * step is its place in the order of starts, and bare text is of the node that started last unless `agent` names
 * another. Decoder and encoder derive all this by the same rules, so only a value that differs is printed.
 */
export class OpenNodes {
  readonly #open = new Map<NodeId, OpenNode>()
  readonly #order = new OpenList<OpenNode>()
  /** Open nodes, under their name, and under their step and name. */
  readonly #alike = new Map<string, OpenList<OpenNode>>()
  readonly #started = new Map<string, number>()
  #steps = 0
  #highest = 0
  #speaker: NodeId | undefined

  impliedId(name: string): NodeId {
    return `${name}@${(this.#started.get(name) ?? 0) + 1}`
  }

  get impliedStep(): number {
    return this.#steps + 1
  }

  get totalSteps(): number {
    return this.#highest
  }

  start(node: OpenNode): void {
    this.end(node.id)
    this.#open.set(node.id, node)
    this.#order.open(node)
    for (const key of keysOf(node)) {
      const alike = this.#alike.get(key) ?? new OpenList()
      this.#alike.set(key, alike)
      alike.open(node)
    }
    this.#started.set(node.name, (this.#started.get(node.name) ?? 0) + 1)
    this.#steps += 1
    this.#highest = Math.max(this.#highest, node.step)
    this.#speaker = node.id
  }

  end(id: NodeId): OpenNode | undefined {
    const node = this.#open.get(id)
    if (node === undefined) return undefined
    this.#open.delete(id)
    this.#order.close(node)
    for (const key of keysOf(node)) {
      const alike = this.#alike.get(key)
      alike?.close(node)
      if (alike?.size === 0) this.#alike.delete(key)
    }
    if (this.#speaker === id) this.#speaker = this.#order.last?.id
    return node
  }

  get(id: NodeId): OpenNode | undefined {
    return this.#open.get(id)
  }

  /** The open node of that name: with a step the one of that step, else the one that started last. */
  named(name: string, step?: number): OpenNode | undefined {
    const own = step === undefined ? undefined : this.#alike.get(stepKey(name, step))?.first
    return own ?? this.#alike.get(nameKey(name))?.last
  }

  /** Open nodes, in the order of their starts. */
  get all(): readonly OpenNode[] {
    return [...this.#open.values()]
  }

  get any(): boolean {
    return this.#open.size > 0
  }

  /** The node to which a reader assigns bare text. */
  get speaker(): OpenNode | undefined {
    return this.#speaker === undefined ? undefined : this.#open.get(this.#speaker)
  }

  speak(id: NodeId): void {
    if (this.#open.has(id)) this.#speaker = id
  }
}

const nameKey = (name: string): string => `\n${name}`
const stepKey = (name: string, step: number): string => `${step}\n${name}`
const keysOf = ({ name, step }: OpenNode): readonly string[] => [nameKey(name), stepKey(name, step)]
