import { defined } from '@millrace/core'
import type { AgentDescription, AgentGraph, AgentGraphNode } from '../../agent/agent.ts'

/** The trigger of every project: a person types the input. */
const trigger = 'manual_trigger'
/** The page computes the places of nodes that lie here. */
const anywhere = { x: 0, y: 0 }

export function projectSummary({ name, description }: AgentDescription, now: number) {
  return { id: name, name, description, updated_at: new Date(now).toISOString() }
}

/**
 * A project as ADK Studio's page needs it for its canvas and its Run button. Nodes have the names that they have on the
 * trace, so that the page finds them. `sub_agents` is empty, because the page does not draw what is listed there: the
 * edges show which agent leads to which.
 */
export function projectDetail(agent: AgentDescription, now: number) {
  const { graph, model, examples, tools = [] } = agent
  const nodes = graph.nodes.filter(({ kind }) => kind === 'agent' || kind === 'step')
  const toolNodes = graph.nodes.filter(({ kind }) => kind === 'tool')
  const described = new Map(toolNodes.map(({ id, description = '' }) => [id, description]))
  const summary = projectSummary(agent, now)
  return {
    ...summary,
    version: '1.0',
    created_at: summary.updated_at,
    settings: { default_model: model?.name ?? '', env_vars: {}, layoutMode: 'fixed', layoutDirection: 'LR' },
    agents: Object.fromEntries(nodes.map((node) => [nameOf(node.id), agentOf(node, graph, model?.name)])),
    tools: Object.fromEntries(
      tools.map((tool) => [tool, { type: 'custom', config: {}, description: described.get(tool) ?? '' }]),
    ),
    tool_configs: {},
    actionNodes: { [trigger]: triggerOf(examples[0] ?? 'Hello') },
    workflow: { type: 'graph', edges: edgesOf(graph), conditions: [] },
  }
}

function agentOf(node: AgentGraphNode, { nodes, edges }: AgentGraph, model: string | undefined) {
  const tools = new Set(nodes.flatMap(({ id, kind }) => (kind === 'tool' ? [id] : [])))
  const { id, kind, description = '', instruction = '' } = node
  return {
    type: kind === 'agent' ? 'llm' : 'custom',
    instruction,
    description,
    tools: edges.flatMap(({ from, to }) => (from === id && tools.has(to) ? [to] : [])),
    sub_agents: [],
    position: anywhere,
    ...defined({ model: node.model ?? (kind === 'agent' ? model : undefined) }),
  }
}

interface ProjectEdge {
  readonly from: string
  readonly to: string
  readonly condition?: string
}

/** From the trigger over START to the first node, and from every node where a run may end to END. */
function edgesOf({ nodes, edges }: AgentGraph): readonly ProjectEdge[] {
  const kinds = new Map(nodes.map(({ id, kind }) => [id, kind]))
  const placed = (id: string): string | undefined => {
    const kind = kinds.get(id)
    if (kind === 'start') return 'START'
    if (kind === 'end') return 'END'
    return kind === 'agent' || kind === 'step' ? nameOf(id) : undefined
  }
  const own = edges.flatMap(({ from, to, label }): ProjectEdge[] => {
    const [source, target] = [placed(from), placed(to)]
    if (source === undefined || target === undefined) return []
    return [{ from: source, to: target, ...defined({ condition: label }) }]
  })
  const names = nodes.flatMap(({ id }) => placed(id) ?? []).filter((name) => name !== 'START' && name !== 'END')
  const starts = own.some(({ from }) => from === 'START') ? [] : entriesOf(names, own)
  const ends = own.some(({ to }) => to === 'END') ? [] : exitsOf(names, own)
  const all = [
    { from: trigger, to: 'START' },
    ...starts.map((to) => ({ from: 'START', to })),
    ...own,
    ...ends.map((from) => ({ from, to: 'END' })),
  ]
  return withoutCircles([...new Map(all.map((edge) => [`${edge.from}\n${edge.to}`, edge])).values()])
}

/**
 * Leaves out the edges that lead back. The page puts each node in the layer of its longest path from START, which is
 * endless in a loop: the tab would hang as soon as the project is opened.
 */
function withoutCircles(edges: readonly ProjectEdge[]): readonly ProjectEdge[] {
  const back = new Set<ProjectEdge>()
  const done = new Set<string>()
  const way = new Set<string>()
  const visit = (node: string): void => {
    way.add(node)
    for (const edge of edges.filter(({ from }) => from === node)) {
      if (way.has(edge.to)) back.add(edge)
      else if (!done.has(edge.to)) visit(edge.to)
    }
    way.delete(node)
    done.add(node)
  }
  for (const { from } of edges) if (!done.has(from)) visit(from)
  return edges.filter((edge) => !back.has(edge))
}

/** Nodes to which no other leads; the first node where all are in a circle. */
function entriesOf(names: readonly string[], edges: readonly ProjectEdge[]): readonly string[] {
  const entered = new Set(edges.flatMap(({ from, to }) => (from === to ? [] : [to])))
  const entries = names.filter((name) => !entered.has(name))
  return entries.length > 0 ? entries : names.slice(0, 1)
}

/** A specialist that is consulted returns to the agent that asked, which goes on. All others may be the last. */
function exitsOf(names: readonly string[], edges: readonly ProjectEdge[]): readonly string[] {
  const returns = new Set(edges.flatMap(({ to, condition }) => (condition === 'consults' ? [to] : [])))
  const passesOn = new Set(edges.flatMap(({ from, condition }) => (condition === undefined ? [from] : [])))
  const exits = names.filter((name) => !returns.has(name) && !passesOn.has(name))
  return exits.length > 0 ? exits : names.slice(0, 1)
}

function triggerOf(defaultPrompt: string) {
  return {
    id: trigger,
    name: 'Manual Trigger',
    type: 'trigger',
    triggerType: 'manual',
    manual: { inputLabel: 'Message', defaultPrompt },
    errorHandling: { mode: 'stop' },
    tracing: { enabled: true, logLevel: 'none' },
    callbacks: {},
    execution: { timeout: 30_000 },
    mapping: { outputKey: 'trigger_input' },
    position: anywhere,
  }
}

/** A node inside another has the path of both; the trace has the last name of it. */
const nameOf = (id: string): string => id.slice(id.lastIndexOf('/') + 1)
