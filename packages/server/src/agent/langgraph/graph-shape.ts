import { isObject } from '@millrace/core'
import type { AgentDescription, AgentGraph } from '../agent.ts'
import type { CompiledGraph } from './langgraph-agent.ts'

/** The part of LangGraph's drawing that we use. */
export interface DrawableGraph {
  readonly nodes: Readonly<Record<string, { readonly id: string }>>
  readonly edges: readonly { readonly source: string; readonly target: string; readonly conditional?: boolean }[]
}

/**
 * The steps of a graph and the edges between them. The steps of an inner graph have the path of the step that it is
 * behind, and its start is that step.
 */
export function describeGraph(graph: CompiledGraph, inside: string | undefined = undefined): AgentGraph {
  const { nodes, edges } = drawingOf(graph)
  const place = (name: string): string => (inside === undefined ? name : `${inside}/${name}`)
  const own = Object.keys(nodes).filter((name) => inside === undefined || !isBorder(name))
  const within = inside === undefined ? {} : { parent: inside }
  const inner = subgraphsOf(graph).map(([name, each]) => describeGraph(each, place(name)))
  const drawn = edges.flatMap(({ source, target }) => {
    if (inside === undefined) return [{ from: source, to: target }]
    if (target === '__end__') return []
    return [{ from: source === '__start__' ? inside : place(source), to: place(target) }]
  })
  return {
    nodes: [
      ...own.map((name) => ({ id: place(name), kind: kindOf(name), ...within })),
      ...inner.flatMap((each) => each.nodes),
    ],
    edges: [...drawn, ...inner.flatMap((each) => each.edges)],
  }
}

/**
 * LangGraph's drawing. A workflow of the functional API has none with names in it: it is drawn as its one node. The error
 * handler of a node is drawn without an edge to it.
 */
function drawingOf(graph: CompiledGraph): DrawableGraph {
  const drawn = graph.getGraph()
  const names = Object.keys(graph.nodes ?? {}).filter((name) => !isBorder(name))
  if (Object.hasOwn(drawn.nodes, '__start__') || names.length === 0) {
    const handlers = names.flatMap((name) => {
      const handler = `__error_handler__${name}`
      return Object.hasOwn(drawn.nodes, handler) ? [{ source: name, target: handler }] : []
    })
    return handlers.length === 0 ? drawn : { ...drawn, edges: [...drawn.edges, ...handlers] }
  }
  const ids = ['__start__', ...names, '__end__']
  return {
    nodes: Object.fromEntries(ids.map((id) => [id, { id }])),
    edges: names.flatMap((name) => [
      { source: '__start__', target: name },
      { source: name, target: '__end__' },
    ]),
  }
}

/** The tools of a graph's tool nodes, with those of its inner graphs: names and what they do. */
export function graphTools(graph: CompiledGraph): Pick<AgentDescription, 'tools' | 'toolDescriptions'> {
  const found = new Map<string, string>()
  const collect = (each: CompiledGraph): void => {
    for (const node of Object.values(each.nodes ?? {})) {
      const tools: unknown = isObject(node) && isObject(node.bound) ? node.bound.tools : undefined
      for (const tool of Array.isArray(tools) ? tools : []) {
        if (isObject(tool) && typeof tool.name === 'string')
          found.set(tool.name, typeof tool.description === 'string' ? tool.description : '')
      }
    }
    for (const [, inner] of subgraphsOf(each)) collect(inner)
  }
  collect(graph)
  if (found.size === 0) return {}
  return { tools: [...found.keys()], toolDescriptions: Object.fromEntries(found) }
}

/** A graph that cannot list its inner graphs (another version, a remote one) is drawn without them. */
function subgraphsOf(graph: CompiledGraph): readonly (readonly [string, CompiledGraph])[] {
  try {
    return [...(graph.getSubgraphs?.() ?? [])].filter(([, each]) => typeof each?.getGraph === 'function')
  } catch {
    return []
  }
}

function isBorder(name: string): boolean {
  return name === '__start__' || name === '__end__'
}

function kindOf(name: string): 'start' | 'end' | 'step' {
  if (name === '__start__') return 'start'
  return name === '__end__' ? 'end' : 'step'
}
