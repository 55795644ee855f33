import '../model/silence-adk-logger.ts'
import { isLlmAgent, isRunnableRoot } from '@google/adk'
import { isObject, MillraceError, type RunEvent, type RunInput } from '@millrace/core'
import type { AgentDescription, RunContext } from '../agent.ts'
import { registerModels, registerName } from '../model/model.ts'
import { graphOf, modelOf } from './describe.ts'
import { tapeOwnModels } from './own-models.ts'
import { type AdkOptions, type AdkProgram, runAdk } from './run.ts'
import { traceNodes } from './trace.ts'
import { treeOf } from './tree.ts'

// Every module that needs @google/adk is imported by this one, and this one on first use only: it takes 1.5 to 2 s and
// 105 MB.
registerModels()

/** An ADK agent whose classes are wrapped so that its runs can be recorded. */
export interface LoadedAdkAgent {
  describe(
    options: AdkOptions,
  ): Pick<AgentDescription, 'description' | 'graph' | 'model' | 'tools' | 'toolDescriptions'>
  run(input: RunInput, context: RunContext, options: AdkOptions): AsyncIterable<RunEvent>
}

export function loadAdkAgent(exported: unknown): LoadedAdkAgent {
  const { root, plugins } = programOf(exported)
  const tree = treeOf(root)
  traceNodes(tree.nodes)
  tapeOwnModels(tree.agents)
  for (const agent of tree.agents) if (isLlmAgent(agent) && typeof agent.model === 'string') registerName(agent.model)
  return {
    describe({ settings }) {
      const graph = graphOf(root)
      const tools = graph.nodes.filter(({ kind }) => kind === 'tool')
      return {
        description: root.description,
        graph,
        ...modelOf(root, settings),
        tools: tools.map(({ id }) => id),
        toolDescriptions: Object.fromEntries(
          tools.flatMap(({ id, description }) => (description === undefined ? [] : [[id, description]])),
        ),
      }
    },
    run: (input, context, options) => runAdk({ root, tree, plugins }, input, context, options),
  }
}

/** Accepts an agent, a workflow, or ADK's `App` around one, with its plugins. */
function programOf(exported: unknown): Pick<AdkProgram, 'root' | 'plugins'> {
  if (isRunnableRoot(exported)) return { root: exported, plugins: [] }
  if (isObject(exported) && isRunnableRoot(exported.rootAgent)) {
    return { root: exported.rootAgent, plugins: Array.isArray(exported.plugins) ? exported.plugins : [] }
  }
  throw new MillraceError(
    'agent-error',
    'the exported object has a name and can run, but is of another kind: it must be an agent or a workflow of @google/adk, such as new LlmAgent({ … })',
  )
}
