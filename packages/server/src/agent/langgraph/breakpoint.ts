import { nodePath, type Recorded, type RunInput } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { answersIn } from './graph-input.ts'
import { breakpointOf } from './graph-interrupts.ts'
import type { CompiledGraph, Snapshot } from './langgraph-agent.ts'

/**
 * Whether a run that goes on after a crash stands at a breakpoint of its graph (`interruptBefore`, `interruptAfter`) that no
 * one has been asked about. LangGraph takes every call that goes on for the answer to a breakpoint, so it must not be called.
 */
export function standsAtBreakpoint(
  graph: Pick<CompiledGraph, 'interruptBefore' | 'interruptAfter'>,
  before: Snapshot,
  input: RunInput,
  { resumed, history, run }: Pick<RunContext, 'resumed' | 'history' | 'run'>,
): boolean {
  if (!resumed || breakpointOf(before) === undefined) return false
  const { next = [] } = before
  const own = outermost(history.filter((row) => row.run === run))
  const last = own.findLastIndex(({ event }) => event.kind === 'node.finished')
  // The run that answers passes the breakpoint that it begins at.
  if (last < 0 && answersIn(input).length > 0) return false
  const hasStarted = own
    .slice(last + 1)
    .some(({ event }) => event.kind === 'node.started' && next.includes(event.agent))
  if (hasStarted) return false
  const ended = own[last]?.event
  const name = ended?.kind === 'node.finished' ? nodePath(ended.node) : undefined
  return includes(graph.interruptBefore, next) || (name !== undefined && includes(graph.interruptAfter, [name]))
}

/** The starts and ends of nodes that are not inside another one, and do not run again. */
function outermost(rows: readonly Recorded[]): readonly Recorded[] {
  const lost = new Set(rows.flatMap(({ event }) => (event.kind === 'superseded' ? event.nodes : [])))
  return rows.filter(
    ({ event }) =>
      (event.kind === 'node.started' || event.kind === 'node.finished') &&
      !event.node.includes('/') &&
      !lost.has(event.node),
  )
}

/** LangGraph writes all nodes as `*`. */
function includes(stops: unknown, nodes: readonly string[]): boolean {
  if (stops === '*') return true
  return Array.isArray(stops) && nodes.some((node) => stops.includes(node))
}
