import { type BareGraph, type BareRun, bareRun } from './bare-graph.ts'
import type { Turn } from './session.ts'

/** The graph of an author's file: exported as it is, or inside what `createAgent` makes. */
export async function graphOf(agent: string): Promise<BareGraph> {
  const { graph, agent: wrapped } = await import(`../langgraph/${agent}/agent.ts`)
  return (graph ?? wrapped.graph) as BareGraph
}

/** What the framework itself makes of the turns with this agent. */
export async function bareAgent(agent: string, turns: readonly Turn[]): Promise<BareRun> {
  return bareRun(await graphOf(agent), turns)
}
