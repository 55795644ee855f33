import {
  type BaseAgent,
  type BaseNode,
  type BaseTool,
  type BaseToolset,
  isAgentTool,
  isBaseAgent,
  isBaseTool,
  isLlmAgent,
  isWorkflow,
  NodeTool,
} from '@google/adk'
import { isObject } from '@millrace/core'
import type { AdkRoot } from './live-run.ts'

/** Everything that an agent consists of, each once. */
export interface Tree {
  readonly nodes: readonly BaseNode[]
  readonly agents: readonly BaseAgent[]
  readonly toolsets: readonly BaseToolset[]
  /** Names of tools that run a workflow: ADK calls them long-running, but their first answer is final. */
  readonly workflows: ReadonlySet<string>
}

/** Finds sub-agents, agents behind tools, and the nodes of workflows, at any depth. */
export function treeOf(root: AdkRoot): Tree {
  const nodes = new Set<BaseNode>()
  const toolsets = new Set<BaseToolset>()
  const workflows = new Set<string>()
  const walk = (node: BaseNode): void => {
    if (nodes.has(node)) return
    nodes.add(node)
    if (isBaseAgent(node)) for (const child of [...node.subAgents, ...routedAgents(node)]) walk(child)
    if (isLlmAgent(node)) {
      for (const tool of node.tools) {
        const inner = nodeBehind(tool)
        if (inner !== undefined) {
          walk(inner)
          if (!isAgentTool(tool)) workflows.add(isBaseTool(tool) ? tool.name : inner.name)
        } else if (!isBaseTool(tool) && 'close' in tool) toolsets.add(tool)
      }
    }
    if (isWorkflow(node)) for (const child of node.graph?.nodes ?? []) walk(child)
  }
  walk(root)
  return { nodes: [...nodes], agents: [...nodes].filter(isBaseAgent), toolsets: [...toolsets], workflows }
}

/** The agent or workflow that a tool runs; undefined for any other tool. */
export function nodeBehind(tool: BaseTool | BaseToolset | BaseNode): BaseNode | undefined {
  if (isAgentTool(tool)) return Reflect.get(tool, 'agent')
  if (tool instanceof NodeTool) return tool.node
  return !isBaseTool(tool) && 'runImpl' in tool ? tool : undefined
}

function routedAgents(agent: BaseAgent): readonly BaseAgent[] {
  const agents: unknown = Reflect.get(agent, 'agents')
  return isObject(agents) ? Object.values(agents).filter(isBaseAgent) : []
}
