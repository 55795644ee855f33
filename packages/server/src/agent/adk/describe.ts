import {
  type BaseNode,
  isBaseAgent,
  isBaseTool,
  isLlmAgent,
  isLoopAgent,
  isSequentialAgent,
  isWorkflow,
  type LlmAgent,
} from '@google/adk'
import type { AgentDescription, AgentGraph, AgentGraphNode } from '../agent.ts'
import { ChosenLlm } from '../model/model.ts'
import { chooseModel, type ModelSettings } from '../model/settings.ts'
import type { AdkRoot } from './live-run.ts'
import { nodeBehind, treeOf } from './tree.ts'

type Edge = AgentGraph['edges'][number]

/** Agents, steps and tools, with an edge from each to those it may lead to. */
export function graphOf(root: AdkRoot): AgentGraph {
  const nodes = new Map<string, AgentGraphNode>()
  const edges: Edge[] = []
  const add = (id: string, kind: AgentGraphNode['kind'], description = '', more = {}): void => {
    if (!nodes.has(id)) nodes.set(id, { id, kind, ...(description === '' ? {} : { description }), ...more })
  }
  for (const node of treeOf(root).nodes) {
    add(node.name, kindOf(node), node.description, isLlmAgent(node) ? promptOf(node) : {})
    edges.push(...subAgentEdges(node))
    if (isLlmAgent(node)) {
      for (const tool of node.tools) {
        const inner = nodeBehind(tool)
        if (inner !== undefined) edges.push({ from: node.name, to: inner.name, label: 'consults' })
        else if (isBaseTool(tool)) {
          add(tool.name, 'tool', tool.description)
          edges.push({ from: node.name, to: tool.name })
        }
      }
    }
    if (isWorkflow(node)) {
      for (const { fromNode, toNode, route } of node.graph?.edges ?? []) {
        const label = route === null ? {} : { label: String(route) }
        edges.push({ from: fromNode.name, to: toNode.name, ...label })
      }
    }
  }
  return { nodes: [...nodes.values()], edges }
}

/** An instruction that is a function depends on the session, so there is no text to show. */
function promptOf({ instruction, model }: LlmAgent): Pick<AgentGraphNode, 'instruction' | 'model'> {
  return {
    ...(typeof instruction === 'string' && instruction !== '' ? { instruction } : {}),
    ...(typeof model === 'string' && model !== '' ? { model } : {}),
  }
}

function kindOf(node: BaseNode): AgentGraphNode['kind'] {
  if (isBaseAgent(node)) return 'agent'
  return node.name === '__START__' || node.name === 'START' ? 'start' : 'step'
}

function subAgentEdges(node: BaseNode): readonly Edge[] {
  if (!isBaseAgent(node)) return []
  const names = node.subAgents.map(({ name }) => name)
  if (!isSequentialAgent(node) && !isLoopAgent(node)) {
    const label = isLlmAgent(node) ? { label: 'transfer' } : {}
    return names.map((to) => ({ from: node.name, to, ...label }))
  }
  const chain = [node.name, ...names].slice(0, -1).map((from, i) => ({ from, to: names[i] ?? '' }))
  const [first] = names
  const last = names.at(-1)
  if (!isLoopAgent(node) || first === undefined || last === undefined) return chain
  return [...chain, { from: last, to: first, label: 'loop' }]
}

/** The model of the first agent that has one. */
export function modelOf(root: AdkRoot, settings: ModelSettings): Pick<AgentDescription, 'model'> {
  const agent = treeOf(root).agents.find((one): one is LlmAgent => isLlmAgent(one) && one.model !== undefined)
  if (agent?.model === undefined) return {}
  const { model } = agent
  if (typeof model !== 'string' && !(model instanceof ChosenLlm)) {
    return { model: { name: model.model, offline: false } }
  }
  const choice = typeof model === 'string' ? chooseModel(settings, model) : model.choose(settings)
  return { model: { name: choice.name, offline: choice.kind === 'offline' } }
}
