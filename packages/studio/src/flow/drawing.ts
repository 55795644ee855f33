import { END, type Flow, type FlowEdge, type FlowKey, START } from '@millrace/core'
import { boxesOf, type Containment, folded } from './boxes.ts'
import { changedOn } from './passed-on.ts'

/** A node in the drawing: one that ran, or one of the agent's graph that may run. */
export interface DrawnNode {
  readonly id: string
  readonly agent: string
  readonly kind: 'start' | 'end' | 'step'
  /** The node that contains it, if that one is drawn as a box. */
  readonly parent?: string
  /** A node that contains a graph of its own. */
  readonly box?: 'open' | 'closed'
}

/** A line between two nodes. A call and its return are one line with two directions. */
export interface DrawnLink {
  readonly id: string
  readonly from: string
  readonly to: string
  /** The ids of the flow edges in both directions; none for a link that is only in the agent's graph. */
  readonly forth: readonly string[]
  readonly back: readonly string[]
  /** The state keys that were changed along it, in the order of their first use. */
  readonly keys: readonly string[]
  /** It was taken more than once, and says how often. */
  readonly repeated: boolean
}

/** The graph as the agent describes it, with the steps that have not run. */
interface PlannedGraph {
  readonly nodes: readonly { readonly id: string; readonly kind: string; readonly parent?: string }[]
  readonly edges: readonly { readonly from: string; readonly to: string }[]
}

export interface Drawing {
  readonly nodes: readonly DrawnNode[]
  readonly links: readonly DrawnLink[]
}

/**
 * The drawing contains the graph of the whole session, so that nothing moves when the cursor does. The inside of a box
 * is drawn only while the box is in `open`.
 */
export function drawingOf(
  { nodes, edges }: Pick<Flow, 'nodes' | 'edges'>,
  plan: PlannedGraph | undefined,
  open: ReadonlySet<string> = new Set(),
): Drawing {
  const ran = nodes.toArray()
  const parents = new Map<string, string>()
  for (const { id, parent } of ran) if (parent !== undefined && parent !== id) parents.set(id, parent)
  const drawn: DrawnNode[] = ran.map(({ id, agent }) => ({ id, agent, kind: kindOf(id) }))
  // The layout uses this order where several nodes could come first.
  drawn.sort((a, b) => Number(b.kind === 'start') - Number(a.kind === 'start'))
  const byAgent = new Map<string, string>()
  for (const { id, agent } of drawn) if (!byAgent.has(agent)) byAgent.set(agent, id)
  // A node inside another is in the agent's graph by its path, which is also the id of the node that ran.
  for (const { id } of drawn) byAgent.set(id, id)
  const planned = new Set<string>()
  for (const { id, kind, parent } of plan?.nodes ?? []) {
    if (parent !== undefined) {
      parents.set(byAgent.get(id) ?? id, parent)
      planned.add(parent)
    }
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
    links.push({
      id: `plan ${source}->${target}`,
      from: source,
      to: target,
      forth: [],
      back: [],
      keys: [],
      repeated: false,
    })
  }
  const containment: Containment = { parents, boxes: boxesOf(parents, links, planned, drawn) }
  return folded({ nodes: drawn, links }, containment, open)
}

/** Joins each return with its call into one link. */
function joined(edges: readonly FlowEdge[]): DrawnLink[] {
  const answers = new Map<string, FlowEdge>()
  for (const edge of edges) if (isAnswer(edge)) answers.set(edge.id, edge)
  const links: DrawnLink[] = []
  const changed = (edge: FlowEdge): readonly string[] => changedOn(edge, edges).map(({ key }) => key)
  for (const edge of edges) {
    if (isAnswer(edge)) continue
    const back = edge.from === edge.to ? undefined : answers.get(`${edge.to}->${edge.from}`)
    if (back !== undefined) answers.delete(back.id)
    const keys = [...changed(edge), ...(back === undefined ? [] : changed(back))]
    const { id, from, to, count } = edge
    const ids = { forth: [id], back: back === undefined ? [] : [back.id] }
    links.push({ id, from, to, ...ids, keys: [...new Set(keys)], repeated: count > 1 })
  }
  for (const edge of answers.values()) {
    const { id, from, to, count } = edge
    links.push({ id, from, to, forth: [id], back: [], keys: changed(edge), repeated: count > 1 })
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

/** What a link has carried so far in both directions. */
export interface Carried {
  readonly count: number
  readonly lastSeq: number
  /** For each key that was changed along the link, its latest value. */
  readonly changed: readonly FlowKey[]
  /** The names of all keys that travelled along it, also of those that were only passed on. */
  readonly keys: ReadonlySet<string>
  readonly answered: boolean
}

export function carriedOn(link: DrawnLink, edges: ReadonlyMap<string, FlowEdge>): Carried {
  const all = [...edges.values()]
  const known = (ids: readonly string[]): readonly FlowEdge[] => ids.flatMap((id) => edges.get(id) ?? [])
  const [forth, back] = [known(link.forth), known(link.back)]
  const changed = new Map<string, FlowKey>()
  for (const edge of [...forth, ...back]) {
    for (const key of changedOn(edge, all)) {
      const before = changed.get(key.key)
      if (before === undefined || before.seq < key.seq) changed.set(key.key, key)
    }
  }
  return {
    count: forth.reduce((sum, { count }) => sum + count, 0),
    lastSeq: Math.max(0, ...[...forth, ...back].map(({ lastSeq }) => lastSeq)),
    changed: [...changed.values()],
    keys: new Set([...forth, ...back].flatMap(({ keys }) => keys.map(({ key }) => key))),
    answered: back.some(({ count }) => count > 0),
  }
}
