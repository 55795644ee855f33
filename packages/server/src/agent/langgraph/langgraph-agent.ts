import { defined } from '@millrace/core'
import { agentSession } from '@millrace/core/store'
import type { Agent, AgentDescription, EngineDescription } from '../agent.ts'
import type { ModelSettings } from '../model/settings.ts'
import { checkpointsIn } from './checkpoint.ts'
import type { GraphInterrupt } from './graph-interrupts.ts'
import { type DrawableGraph, describeGraph, graphTools } from './graph-shape.ts'
import { saverName } from './own-saver.ts'

/** The part of a compiled LangGraph that we use; any version that has it works. */
export interface CompiledGraph {
  checkpointer?: unknown
  /** What the author gave to `withConfig`. */
  readonly config?: { readonly recursionLimit?: number }
  readonly store?: unknown
  readonly cache?: unknown
  readonly interruptBefore?: unknown
  readonly interruptAfter?: unknown
  stream?(input: unknown, config: object): unknown
  readonly channels?: Readonly<Record<string, unknown>>
  streamEvents(input: unknown, config: Readonly<Record<string, unknown>>): AsyncIterable<StreamEvent>
  getState(config: object, options?: object): Promise<Snapshot>
  updateState?(config: object, values: unknown, asNode?: string): Promise<unknown>
  readonly nodes?: Readonly<Record<string, unknown>>
  getGraph(): DrawableGraph
  getSubgraphs?(): Iterable<readonly [string, CompiledGraph]>
}
export interface StreamEvent {
  readonly event: string
  readonly name: string
  readonly run_id: string
  readonly parent_ids?: readonly string[]
  readonly tags?: readonly string[]
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly data?: Readonly<Record<string, unknown>>
}
export interface Snapshot {
  readonly values?: unknown
  readonly next?: readonly string[]
  readonly config?: { readonly configurable?: Readonly<Record<string, unknown>> }
  readonly tasks?: readonly GraphTask[]
  readonly metadata?: { readonly step?: number } | undefined
}
interface GraphTask {
  readonly id?: string
  readonly name: string
  readonly interrupts?: readonly GraphInterrupt[]
  /** The state of the inner graph, where the task has one. */
  readonly state?: unknown
}

export interface GraphAgentFile {
  readonly graph: CompiledGraph
  readonly description?: string
  readonly examples?: readonly string[]
  readonly resumable?: boolean
  readonly model?: { readonly name: string; readonly offline: boolean }
}

/** What the engine says of itself in the description of each of its agents. */
export const langgraphAbout: EngineDescription = {
  engine: 'langgraph',
  engineLabel: 'LangGraph',
  redoesNodes: true,
  capabilities: { runsOn: true },
}

/** An agent that runs a compiled graph. The graph, and what runs it, are loaded on first use. */
export function graphAgent(name: string, load: () => Promise<GraphAgentFile>, models: ModelSettings = {}): Agent {
  return {
    name,
    async describe(): Promise<AgentDescription> {
      const { graph, description = '', examples = [], resumable = false, model } = await load()
      const checkpoints = checkpointsIn(graph)
      return {
        name,
        description,
        ...langgraphAbout,
        graph: describeGraph(graph),
        ...graphTools(graph),
        examples,
        resumable,
        checkpoints,
        ...defined({ model, checkpointer: checkpoints === 'own' ? saverName(graph) : undefined }),
      }
    },
    async *run(input, context) {
      // A saver of the author knows threads by their id alone.
      const own = { ...context, session: agentSession(context.session) }
      const file = await load()
      const { runGraph } = await import('./graph-run.ts')
      yield* runGraph(file, input, own, models)
    },
  }
}
