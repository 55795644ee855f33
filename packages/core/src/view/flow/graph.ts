import type { Json, JsonObject } from '../../json/json.ts'
import type { Dictionary } from '../../persistent/dictionary.ts'
import type { Sequence } from '../../persistent/sequence.ts'
import type { Execution, Via } from '../timeline/state.ts'

/** The ends of the graph: every run starts at START, with the client's state, and a run that is done goes to END. */
export const START = 'START'
export const END = 'END'

/** One agent or graph step; all its executions are one node. */
export interface FlowNode {
  /** The node's path (`coordinator/burn_analyst`), or START, or END. */
  readonly id: string
  readonly agent: string
  readonly parent?: string
  readonly executions: number
  readonly running: number
  /** The status of the last execution; `running` while any execution runs. */
  readonly status: Execution['status']
  readonly lastSeq: number
}

/** A state key that travelled along an edge, with its value when it last did. */
export interface FlowKey {
  readonly key: string
  readonly value: Json
  readonly seq: number
}

/** An edge that a run took: control went from one node to another. */
export interface FlowEdge {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly kinds: readonly (Via | 'return' | 'end')[]
  /** How often it was taken. 0 if only a step that a crash interrupted took it. */
  readonly count: number
  /** The keys that the source had written and the target found. */
  readonly keys: readonly FlowKey[]
  readonly lastSeq: number
}

export interface Graph {
  readonly nodes: Sequence<FlowNode>
  readonly edges: Sequence<FlowEdge>
  readonly places: Dictionary<number>
}

export const edgeId = (from: string, to: string): string => `${from}->${to}`
const nodePlace = (id: string): string => `node ${id}`
const edgePlace = (from: string, to: string): string => `edge ${from}\n${to}`

export function nodeIn(graph: Graph, id: string): FlowNode | undefined {
  const at = graph.places.get(nodePlace(id))
  return at === undefined ? undefined : graph.nodes.at(at)
}

/** The graph with one node changed; `change` gets the known node, or a new one. */
export function withNode(graph: Graph, id: string, agent: string, change: (node: FlowNode) => FlowNode): Graph {
  const at = graph.places.get(nodePlace(id))
  const before = at === undefined ? undefined : graph.nodes.at(at)
  if (at !== undefined && before !== undefined) return { ...graph, nodes: graph.nodes.with(at, change(before)) }
  const fresh: FlowNode = { id, agent, executions: 0, running: 0, status: 'ok', lastSeq: 0 }
  return {
    ...graph,
    nodes: graph.nodes.append(change(fresh)),
    places: graph.places.set(nodePlace(id), graph.nodes.length),
  }
}

/** One passage along an edge. */
export interface TakenEdge {
  readonly from: string
  readonly to: string
  readonly kind: FlowEdge['kinds'][number]
  readonly keys: readonly FlowKey[]
  readonly seq: number
}

export function withEdge(graph: Graph, { from, to, kind, keys, seq }: TakenEdge): Graph {
  const place = edgePlace(from, to)
  const at = graph.places.get(place)
  const before = at === undefined ? undefined : graph.edges.at(at)
  if (at !== undefined && before !== undefined) {
    const after: FlowEdge = {
      ...before,
      kinds: before.kinds.includes(kind) ? before.kinds : [...before.kinds, kind],
      count: before.count + 1,
      keys: merged(before.keys, keys),
      lastSeq: seq,
    }
    return { ...graph, edges: graph.edges.with(at, after) }
  }
  const made: FlowEdge = { id: edgeId(from, to), from, to, kinds: [kind], count: 1, keys, lastSeq: seq }
  return { ...graph, edges: graph.edges.append(made), places: graph.places.set(place, graph.edges.length) }
}

/** The edge counts once less: a crash interrupted the step that took it. */
export function withoutEdge(graph: Graph, from: string, to: string): Graph {
  const at = graph.places.get(edgePlace(from, to))
  const before = at === undefined ? undefined : graph.edges.at(at)
  if (at === undefined || before === undefined) return graph
  return { ...graph, edges: graph.edges.with(at, { ...before, count: Math.max(0, before.count - 1) }) }
}

/** The keys of an edge: only those that the source wrote and the target finds. */
export function carried(wrote: Iterable<string>, state: JsonObject, seq: number): readonly FlowKey[] {
  const keys: FlowKey[] = []
  for (const key of wrote) {
    const value = Object.hasOwn(state, key) ? state[key] : undefined
    if (value !== undefined) keys.push({ key, value, seq })
  }
  return keys
}

function merged(before: readonly FlowKey[], after: readonly FlowKey[]): readonly FlowKey[] {
  if (after.length === 0) return before
  const keys = new Map(before.map((each) => [each.key, each]))
  for (const each of after) keys.set(each.key, each)
  return [...keys.values()]
}
