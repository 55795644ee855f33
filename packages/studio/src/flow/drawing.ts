import { defined, END, type Flow, type FlowEdge, type FlowKey, START } from '@millrace/core'
import type { AgentInfo } from '../session/sessions.ts'

/** A node in the drawing: one that ran, or one of the agent's graph that may run. */
export interface DrawnNode {
  readonly id: string
  readonly agent: string
  readonly kind: 'start' | 'end' | 'step'
}

/** A line between two nodes. A call and its return are one line with two directions. */
export interface DrawnLink {
  readonly id: string
  readonly from: string
  readonly to: string
  /** The ids of the flow edges in both directions; absent for a link that is only in the agent's graph. */
  readonly forth?: string
  readonly back?: string
  /** The state keys that were passed along, in the order of their first use. */
  readonly keys: readonly string[]
}

export interface Drawing {
  readonly nodes: readonly DrawnNode[]
  readonly links: readonly DrawnLink[]
}

/** The drawing contains the graph of the whole session, so that nothing moves when the cursor does. */
export function drawingOf(
  { nodes, edges }: Pick<Flow, 'nodes' | 'edges'>,
  plan: AgentInfo['graph'] | undefined,
): Drawing {
  const drawn: DrawnNode[] = nodes.toArray().map(({ id, agent }) => ({ id, agent, kind: kindOf(id) }))
  // The layout uses this order where several nodes could come first.
  drawn.sort((a, b) => Number(b.kind === 'start') - Number(a.kind === 'start'))
  const byAgent = new Map<string, string>()
  for (const { id, agent } of drawn) if (!byAgent.has(agent)) byAgent.set(agent, id)
  // A node inside another is in the agent's graph by its path, which is also the id of the node that ran.
  for (const { id } of drawn) byAgent.set(id, id)
  for (const { id, kind, parent } of plan?.nodes ?? []) {
    if (kind === 'tool' || byAgent.has(id) || isBorder(id)) continue
    byAgent.set(id, id)
    drawn.push({ id, agent: parent === undefined ? id : id.slice(parent.length + 1), kind: 'step' })
  }
  const links = joined(edges.toArray())
  const known = new Set(links.flatMap(({ from, to }) => [`${from}\n${to}`, `${to}\n${from}`]))
  for (const { from, to } of plan?.edges ?? []) {
    const source = byAgent.get(from)
    const target = byAgent.get(to)
    if (source === undefined || target === undefined || known.has(`${source}\n${target}`)) continue
    known.add(`${source}\n${target}`)
    links.push({ id: `plan ${source}->${target}`, from: source, to: target, keys: [] })
  }
  return { nodes: drawn, links }
}

/** Joins each return with its call into one link. */
function joined(edges: readonly FlowEdge[]): DrawnLink[] {
  const answers = new Map<string, FlowEdge>()
  for (const edge of edges) if (isAnswer(edge)) answers.set(edge.id, edge)
  const links: DrawnLink[] = []
  for (const edge of edges) {
    if (isAnswer(edge)) continue
    const back = edge.from === edge.to ? undefined : answers.get(`${edge.to}->${edge.from}`)
    if (back !== undefined) answers.delete(back.id)
    const keys = [...edge.keys, ...(back?.keys ?? [])].map(({ key }) => key)
    const { id, from, to } = edge
    links.push(defined({ id, from, to, forth: id, back: back?.id, keys: [...new Set(keys)] }))
  }
  for (const { id, from, to, keys } of answers.values()) {
    links.push({ id, from, to, forth: id, keys: keys.map(({ key }) => key) })
  }
  return links
}

function isAnswer({ kinds }: FlowEdge): boolean {
  return kinds.every((kind) => kind === 'return')
}

function kindOf(id: string): DrawnNode['kind'] {
  return id === START ? 'start' : id === END ? 'end' : 'step'
}

/** LangGraph's names for the start and the end of a graph, which are drawn as START and END. */
function isBorder(id: string): boolean {
  return id === '__start__' || id === '__end__'
}

/** What a link has carried so far in both directions: for each key its latest value. */
export function carriedOn(
  link: DrawnLink,
  edges: ReadonlyMap<string, FlowEdge>,
): { readonly count: number; readonly lastSeq: number; readonly keys: readonly FlowKey[]; readonly answered: boolean } {
  const forth = link.forth === undefined ? undefined : edges.get(link.forth)
  const back = link.back === undefined ? undefined : edges.get(link.back)
  const keys = new Map<string, FlowKey>()
  for (const key of [...(forth?.keys ?? []), ...(back?.keys ?? [])]) {
    const known = keys.get(key.key)
    if (known === undefined || known.seq < key.seq) keys.set(key.key, key)
  }
  return {
    count: forth?.count ?? 0,
    lastSeq: Math.max(forth?.lastSeq ?? 0, back?.lastSeq ?? 0),
    keys: [...keys.values()],
    answered: (back?.count ?? 0) > 0,
  }
}
