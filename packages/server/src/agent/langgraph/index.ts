import { defined, MillraceError } from '@millrace/core'
import type { FileEngine } from '../agent-engine.ts'
import { checkpointLeftOut, checkpointMessage } from './checkpoint.ts'
import { describeModel } from './graph-model.ts'
import { type CompiledGraph, graphAgent, langgraphAbout } from './langgraph-agent.ts'
import { progressMessage } from './own-progress.ts'
import { threadMessage } from './own-saver.ts'

/** Runs compiled graphs of @langchain/langgraph. */
export const langgraphEngine: FileEngine = {
  about: langgraphAbout,
  exports: ['graph'],
  exported: 'a compiled LangGraph',
  packages: ['@langchain/core', '@langchain/langgraph'],
  modules: { '@millrace/server/langgraph': () => import('./authoring.ts') },
  privateLogs: [checkpointMessage, threadMessage, progressMessage],
  leftOutLogs: [checkpointLeftOut],
  recognises: (value) => graphIn(value) !== undefined,
  factories: true,
  remedy: 'it must be a compiled LangGraph, a function that returns one, or an agent of createAgent',
  open(name, { exported, description, examples, resumable }, models) {
    const graph = compiled(exported)
    const load = async () => ({
      ...defined({ description, examples, resumable }),
      graph,
    })
    return describeModel(name, exported, graphAgent(name, load, models), models)
  },
  async hookModels(file) {
    const { hookChatModels } = await import('./own-chat-models.ts')
    await hookChatModels(file)
  },
}

/** The graph of an export. `createAgent` wraps its graph, and `langgraph dev` compiles a graph that is not compiled yet. */
function graphIn(value: unknown): CompiledGraph | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if ('graph' in value && isCompiled(value.graph)) return value.graph
  if (isCompiled(value)) return value
  if (!('compile' in value) || typeof value.compile !== 'function') return undefined
  const graph: unknown = value.compile()
  return isCompiled(graph) ? graph : undefined
}

function isCompiled(value: unknown): value is CompiledGraph {
  return typeof value === 'object' && value !== null && 'streamEvents' in value && 'getGraph' in value
}

function compiled(value: unknown): CompiledGraph {
  const graph = graphIn(value)
  if (graph !== undefined) return graph
  throw new MillraceError('agent-error', 'graph must be a compiled LangGraph: export graph.compile()')
}
