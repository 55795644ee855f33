import type { JsonObject } from '@millrace/core'
import { turns } from '../langgraph/turns.ts'
import { type BareGraph, type BareRun, bareRun, Heard, take } from './bare-graph.ts'
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

/**
 * All turns of an agent, then another turn from an earlier checkpoint: the one after `after` turns, or the newest that
 * waits for the nodes `next`. `update` is written to that checkpoint first.
 */
export async function branched(
  agent: string,
  after: number,
  update: object,
  turn: Turn,
  next?: readonly string[],
): Promise<JsonObject> {
  const graph = await graphOf(agent)
  const config = { configurable: { thread_id: crypto.randomUUID() } }
  let from: object = config
  for (const [i, each] of (turns[agent] ?? []).entries()) {
    await take(graph, config, each, new Heard())
    if (i === 0 && next !== undefined) from = await checkpointBefore(graph, config, next)
    if (i + 1 === after) from = (await graph.getState(config)).config
  }
  const start = Object.keys(update).length === 0 ? from : await graph.updateState(from, update)
  const heard = new Heard()
  await take(graph, start, turn, heard)
  return heard.result().state
}

async function checkpointBefore(graph: BareGraph, config: object, next: readonly string[]): Promise<object> {
  for await (const snapshot of graph.getStateHistory(config)) {
    if (snapshot.next.join() === next.join()) return snapshot.config
  }
  throw new Error(`no checkpoint waits for ${next.join()}`)
}
