import { defined, type RunEvent, type RunInput } from '@millrace/core'
import { agentSession } from '@millrace/core/store'
import type { Agent, AgentDescription, EngineDescription, RunContext } from '../agent.ts'
import { CallRecorder } from '../call-recorder.ts'
import { type ModelSettings, secretsOf } from '../model/settings.ts'
import { changedState } from './changed-state.ts'
import { checkpointEvent, checkpointsIn, replacedSaver, seedCheckpoint } from './checkpoint.ts'
import { rebuiltState } from './checkpoint-rebuild.ts'
import { streamWriter } from './custom-stream.ts'
import { GraphCalls } from './graph-calls.ts'
import { EventMapper, graphEvents } from './graph-events.ts'
import { goesOn, graphInput, messageIds } from './graph-input.ts'
import {
  breakpointEvent,
  breakpointOf,
  type GraphInterrupt,
  interruptEvent,
  openQuestions,
} from './graph-interrupts.ts'
import { GraphPrompt } from './graph-prompt.ts'
import { type DrawableGraph, describeGraph, graphTools } from './graph-shape.ts'
import { GraphState } from './graph-state.ts'
import { eventsOf, streamModes } from './node-cache.ts'
import { lostThread, ownSaver, ownSaverNote, saverName, threadEvent } from './own-saver.ts'
import { runChain } from './run-chain.ts'
import { clientConfig, storeNote } from './run-config.ts'
import { StepKeeper } from './step-keeper.ts'

/** The part of a compiled LangGraph that we use; any version that has it works. */
export interface CompiledGraph {
  checkpointer?: unknown
  /** What the author gave to `withConfig`. */
  readonly config?: { readonly recursionLimit?: number }
  readonly store?: unknown
  readonly cache?: unknown
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

/** Steps of a graph whose author has set no limit; LangGraph's own is 25. */
const maxSteps = 200

/** What the engine says of itself in the description of each of its agents. */
export const langgraphAbout: EngineDescription = {
  engine: 'langgraph',
  engineLabel: 'LangGraph',
  redoesNodes: true,
  capabilities: { runsOn: true },
}

/** An agent that runs a compiled graph. The graph is loaded on first use. */
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
      yield* runGraph(await load(), input, own, models)
    },
  }
}

async function* runGraph(
  file: GraphAgentFile,
  input: RunInput,
  context: RunContext,
  models: ModelSettings,
): AsyncGenerator<RunEvent> {
  const { graph } = file
  const saver = await seedCheckpoint(graph, context)
  const own = saver === undefined ? ownSaver(graph, context.session) : undefined
  const given = clientConfig(input, context)
  const kept = saver ?? own?.saver
  const keep = file.resumable === true && kept !== undefined ? new StepKeeper(kept, context) : undefined
  const prompt = new GraphPrompt(context)
  const calls = new GraphCalls(new CallRecorder(context, input, secretsOf(models)), context.now, prompt)
  const config = {
    ...keep?.config,
    version: 'v2',
    streamMode: streamModes(graph),
    signal: own === undefined ? context.signal : AbortSignal.any([context.signal, own.saver.signal]),
    recursionLimit: graph.config?.recursionLimit ?? maxSteps,
    writer: await streamWriter(),
    callbacks: [...(keep?.handlers ?? []), calls.handler],
    ...given,
    configurable: { ...given.configurable, thread_id: context.session, millrace: { input, context, models, prompt } },
  }
  // A checkpoint from an import can make even the first read throw; it must be forgotten then, too.
  try {
    const found = await stateOf(graph, config)
    const change = await changedState(graph, config, context, found)
    const before = change.applied ? await stateOf(graph, config) : found
    const rebuilt = saver === undefined ? { values: {}, notes: [] } : await rebuiltState(graph, context)
    const values = { ...rebuilt.values, ...change.values }
    const next = change.input ?? (await graphInput(graph, input, context, before, saver !== undefined, values))
    yield* rebuilt.notes
    if (saver?.replaced === true && !context.history.some(({ event }) => isNote(event))) yield replacedSaver
    if (own !== undefined) yield* [...ownSaverNote(own.saver, context), ...lostThread(before, own.saver, context)]
    if (own !== undefined) yield* threadEvent(before, context)
    yield* storeNote(graph, context)
    const state = new GraphState(context.state, before.values)
    const known = [...messageIds(before), ...messageIds({ values: rebuilt.values })]
    const chain = runChain(context, goesOn(next))
    const mapper = new EventMapper(describeGraph(graph), context, state, known, chain, calls)
    const streamed = eventsOf(graph, next, config)
    const events = own === undefined ? streamed : own.saver.during(streamed)
    for await (const event of graphEvents(events, mapper, keep?.started)) {
      state.saw(event)
      if (event.kind === 'node.started') yield* keep?.before() ?? []
      if (event.kind === 'node.finished') await keep?.stored()
      yield event
      if (event.kind === 'node.finished') yield* keep?.before() ?? []
    }
    const after = await stateOf(graph, config)
    // The writes of a last step that an interrupt kept from ending.
    yield* state.step(after.values)
    if (saver !== undefined) yield checkpointEvent(saver, context.session)
    yield* waiting(after, mapper)
  } finally {
    keep?.close()
    own?.end()
    saver?.forget(context.session)
  }
}

/** The questions that the graph stopped with: the nodes that ask wait for the answer. */
function* waiting(after: Snapshot, mapper: EventMapper): Generator<RunEvent> {
  const open = openQuestions(after)
  const stop = breakpointOf(after)
  if (open.length === 0 && stop === undefined) return
  for (const { task, asked } of open) yield interruptEvent(asked, mapper.nodes.asking(task))
  if (stop !== undefined) yield breakpointEvent(stop, after)
  yield* mapper.nodes.wait()
  yield { kind: 'run.finished', outcome: 'interrupted' }
}

function isNote(event: RunEvent): boolean {
  return event.kind === 'log' && event.message === replacedSaver.message
}

async function stateOf(graph: CompiledGraph, config: object): Promise<Snapshot> {
  const has = graph.checkpointer !== undefined && graph.checkpointer !== false
  return has ? graph.getState(config, { subgraphs: true }) : {}
}
