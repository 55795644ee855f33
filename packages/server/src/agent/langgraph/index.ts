import { defined, MillraceError } from '@millrace/core'
import type { FileEngine } from '../agent-engine.ts'
import { chooseModel, type ModelSettings } from '../model/settings.ts'
import { checkpointMessage } from './checkpoint.ts'
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
      model: modelOf(models),
    })
    return graphAgent(name, load, models)
  },
}

/** The model that a graph's chat model will choose: only the settings decide. */
function modelOf(models: ModelSettings): { readonly name: string; readonly offline: boolean } {
  const choice = chooseModel(models, undefined, true)
  return { name: choice.name, offline: choice.kind === 'offline' }
}

function compiled(graph: unknown): CompiledGraph {
  if (typeof graph === 'object' && graph !== null && 'streamEvents' in graph) return graph as CompiledGraph
  throw new MillraceError('agent-error', 'graph must be a compiled LangGraph: export graph.compile()')
}
