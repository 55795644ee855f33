import { type NodeId, nodePath, type Recorded, type RunInput } from '@millrace/core'

/** A node that ran before this run began, or before the crash that this run goes on after. */
export interface EarlierNode {
  readonly node: NodeId
  readonly path: string
  /** The nodes whose end led to it. */
  readonly after: readonly NodeId[]
  /** Which group of nodes beside each other it ran in: a step of its graph. */
  readonly phase: number
  readonly status: 'open' | 'ok' | 'cut'
}

/** The nodes inside one node, or those of the outermost graph. */
type Level = readonly EarlierNode[]

/**
 * What ran in the runs that a run goes on with. A node that was cut (by a question, a crash or an error) runs again under
 * another id: it is the same step of the graph, comes after the same nodes, and has the same nodes inside it.
 */
export class EarlierNodes {
  readonly #levels = new Map<NodeId, Level>()
  /** For a node that runs again: its first id. */
  readonly #first = new Map<NodeId, NodeId>()
  readonly #levelOf = new Map<NodeId, NodeId>()

  /** `rows` are those of a chain of runs, oldest first. */
  constructor(rows: readonly Recorded[]) {
    for (const { event } of rows) {
      if (event.kind === 'run.started' && !isAnswer(event.input)) this.#levels.clear()
      if (event.kind === 'node.started') this.#start(event.node, event.parent, event.after)
      if (event.kind === 'node.finished') this.#end([event.node], event.status === 'ok' ? 'ok' : 'cut')
      if (event.kind === 'superseded') this.#end(event.nodes, 'cut')
    }
  }

  /** The nodes inside this one; without one, those of the outermost graph. */
  inside(parent: NodeId | undefined): Level {
    return this.#levels.get(this.#levelIn(parent)) ?? []
  }

  /** The node that was cut and runs again as `node`: it is no longer among the nodes of its level. */
  again(node: NodeId, parent: NodeId | undefined): EarlierNode | undefined {
    const path = nodePath(node)
    const found = this.inside(parent).find((each) => each.path === path && each.status === 'cut')
    if (found === undefined) return undefined
    this.#replace(this.#levelIn(parent), found.node, [])
    this.#first.set(node, this.#first.get(found.node) ?? found.node)
    return found
  }

  #start(node: NodeId, parent: NodeId | undefined, after: readonly NodeId[] = []): void {
    const level = this.#levelIn(parent)
    const before = this.inside(parent)
    const again = this.again(node, parent)
    const last = Math.max(0, ...before.map(({ phase }) => phase))
    const isBeside = before.some(({ phase, status }) => phase === last && status !== 'ok')
    const phase = again?.phase ?? (before.length === 0 || isBeside ? last : last + 1)
    const made: EarlierNode = { node, path: nodePath(node), after: again?.after ?? after, phase, status: 'open' }
    this.#levels.set(level, [...this.inside(parent), made])
    this.#levelOf.set(node, level)
  }

  #end(nodes: readonly NodeId[], status: 'ok' | 'cut'): void {
    for (const node of nodes) {
      const level = this.#levelOf.get(node) ?? ''
      const found = this.#levels.get(level)?.find((each) => each.node === node)
      if (found !== undefined) this.#replace(level, node, [{ ...found, status }])
    }
  }

  #levelIn(parent: NodeId | undefined): NodeId {
    return parent === undefined ? '' : (this.#first.get(parent) ?? parent)
  }

  #replace(level: NodeId, node: NodeId, by: Level): void {
    const list = this.#levels.get(level) ?? []
    this.#levels.set(
      level,
      list.flatMap((each) => (each.node === node ? by : [each])),
    )
  }
}

/** A run that answers a question goes on with the run before; any other one begins at the start of its graph. */
function isAnswer({ resume = [], messages }: RunInput): boolean {
  const parts = messages.flatMap(({ content }) => content.parts ?? [])
  return resume.length > 0 || parts.some(({ functionResponse }) => functionResponse !== undefined)
}
