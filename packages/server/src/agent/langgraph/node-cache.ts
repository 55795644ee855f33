import { isObject } from '@millrace/core'
import type { CompiledGraph, StreamEvent } from './langgraph-agent.ts'
import { stepMode } from './steps.ts'

/** The stream mode that includes what nodes returned: only this one shows nodes whose answer came from a cache. */
const updateMode = 'updates'

export function streamModes({ cache }: CompiledGraph): readonly string[] {
  return cache === undefined ? [stepMode] : [stepMode, updateMode]
}

/** The nodes of the outermost graph that took their answer from a cache, with that answer. */
export function cachedUpdates({ event, data, metadata }: StreamEvent): readonly (readonly [string, unknown])[] {
  const chunk = event === 'on_chain_stream' && metadata?.langgraph_node === undefined ? data?.chunk : undefined
  if (!Array.isArray(chunk) || chunk[0] !== updateMode || !isObject(chunk[1])) return []
  const { __metadata__: about, ...updates } = chunk[1]
  return isObject(about) && about.cached === true ? Object.entries(updates) : []
}

/**
 * The events of a graph. LangChain aborts the signal of a graph when its events are over, and LangGraph keeps a listener
 * for it from a step whose nodes were all answered by a cache: that would be a rejection without a handler. So a graph
 * with a cache gets only the run's own signal.
 */
export function eventsOf(
  graph: CompiledGraph,
  input: unknown,
  config: Readonly<Record<string, unknown>>,
): AsyncIterable<StreamEvent> {
  if (graph.cache === undefined || graph.stream === undefined) return graph.streamEvents(input, config)
  const { signal } = config
  const stream = (given: unknown, options: object): unknown => graph.stream?.(given, { ...options, signal })
  return Object.create(graph, { stream: { value: stream } }).streamEvents(input, config)
}
