import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import { emptyTimeline, type Timeline } from '../timeline/state.ts'
import type { FlowEdge, FlowNode, Graph } from './graph.ts'

export interface Flow {
  /** In the order in which they first ran. */
  readonly nodes: Sequence<FlowNode>
  /** The edges really taken, in the order in which they first were. */
  readonly edges: Sequence<FlowEdge>
  readonly index: FlowIndex
}

interface FlowIndex {
  readonly line: Timeline
  readonly places: Graph['places']
  /** Keys that no node wrote since the last run ended: the client's state and people's edits. START brings them. */
  readonly outside: readonly string[]
  toJSON(): undefined
}

export const emptyFlow: Flow = {
  nodes: Sequence.empty,
  edges: Sequence.empty,
  index: { line: emptyTimeline, places: Dictionary.empty, outside: [], toJSON: () => undefined },
}
