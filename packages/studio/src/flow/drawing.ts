import { END, type Flow, type FlowEdge, type FlowKey, START } from '@millrace/core'
import type { AgentInfo } from '../session/sessions.ts'

/** A node as drawn: one that ran, or one that the agent's own graph says may run. */
export interface DrawnNode {
  readonly id: string
  readonly agent: string
  readonly kind: 'start' | 'end' | 'step'
}

/** A line between two nodes. A call and its answer are one line with two ways. */
export interface DrawnLink {
  readonly id: string
  readonly from: string
  readonly to: string
  /** The edges of the flow it stands for; none for a way that is only planned. */
  readonly forth?: string
  readonly back?: string
  /** The keys that travelled, in the order of their first time. */
  readonly keys: readonly string[]
}

export interface Drawing {
  readonly nodes: readonly DrawnNode[]
  readonly links: readonly DrawnLink[]
}

/** What is drawn is the whole session's graph, so that nothing moves when the cursor does. */
export function drawingOf(
  { nodes, edges }: Pick<Flow, 'nodes' | 'edges'>,
  plan: AgentInfo['graph'] | undefined,
): Drawing {
  const drawn: DrawnNode[] = nodes.toArray().map(({ id, agent }) => ({ id, agent, kind: kindOf(id) }))
  // Where several nodes could come first, the layout goes by this order.
  drawn.sort((a, b) => Number(b.kind === 'start') - Number(a.kind === 'start'))
  const byAgent = new Map<string, string>()
  for (const { id, agent } of drawn) if (!byAgent.has(agent)) byAgent.set(agent, id)
  for (const { id, kind } of plan?.nodes ?? []) {
    if (kind === 'tool' || byAgent.has(id) || isBorder(id)) continue
    byAgent.set(id, id)
    drawn.push({ id, agent: id, kind: 'step' })
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

/** An answer goes back along the line of its call. */
function joined(edges: readonly FlowEdge[]): DrawnLink[] {
  const answers = new Map<string, FlowEdge>()
  for (const edge of edges) if (isAnswer(edge)) answers.set(edge.id, edge)
  const links: DrawnLink[] = []
  for (const edge of edges) {
    if (isAnswer(edge)) continue
    const back = edge.from === edge.to ? undefined : answers.get(`${edge.to}->${edge.from}`)
    if (back !== undefined) answers.delete(back.id)
    const keys = [...edge.keys, ...(back?.keys ?? [])].map(({ key }) => key)
    links.push({
      id: edge.id,
      from: edge.from,
      to: edge.to,
      forth: edge.id,
      ...(back === undefined ? {} : { back: back.id }),
      keys: [...new Set(keys)],
    })
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

/** LangGraph's own names for where a graph begins and ends: START and END stand for them. */
function isBorder(id: string): boolean {
  return id === '__start__' || id === '__end__'
}

/** What a link carried up to a moment: by both ways, the later value of a key. */
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
