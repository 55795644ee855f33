import { defined, MillraceError } from '@millrace/core'
import type { FileEngine } from '../agent-engine.ts'
import { checkpointMessage } from './checkpoint.ts'
import { describeModel } from './graph-model.ts'
import { type CompiledGraph, graphAgent, langgraphAbout } from './langgraph-agent.ts'

/** Runs compiled graphs of @langchain/langgraph. */
export const langgraphEngine: FileEngine = {
  about: langgraphAbout,
  exports: ['graph'],
  exported: 'a compiled LangGraph',
  packages: ['@langchain/core', '@langchain/langgraph'],
  modules: { '@millrace/server/langgraph': () => import('./authoring.ts') },
  privateLogs: [checkpointMessage],
  open(name, { exported, description, examples, resumable }, models) {
    const load = async () => ({
      ...defined({ description, examples, resumable }),
      graph: compiled(exported),
    })
    return describeModel(name, exported, graphAgent(name, load, models), models)
  },
}

function compiled(graph: unknown): CompiledGraph {
  if (typeof graph === 'object' && graph !== null && 'streamEvents' in graph) return graph as CompiledGraph
  throw new MillraceError('agent-error', 'graph must be a compiled LangGraph: export graph.compile()')
}
