import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import { emptyTimeline, type Timeline } from '../timeline/state.ts'
import type { FlowEdge, FlowNode, Graph } from './graph.ts'

export interface Flow {
  /** In the order in which they first ran. */
  readonly nodes: Sequence<FlowNode>
  /** The edges that were taken, in the order of their first passage. */
  readonly edges: Sequence<FlowEdge>
  readonly index: FlowIndex
}

interface FlowIndex {
  readonly line: Timeline
  readonly places: Graph['places']
  /** Keys written since the last run by no node: client state and people's edits. They travel from START. */
  readonly outside: KeySet
  toJSON(): undefined
}

/** Keys in the order in which they came, each once. */
export interface KeySet {
  readonly list: Sequence<string>
  readonly known: Dictionary<true>
}

export const noKeys: KeySet = { list: Sequence.empty, known: Dictionary.empty }

export const emptyFlow: Flow = {
  nodes: Sequence.empty,
  edges: Sequence.empty,
  index: { line: emptyTimeline, places: Dictionary.empty, outside: noKeys, toJSON: () => undefined },
}
