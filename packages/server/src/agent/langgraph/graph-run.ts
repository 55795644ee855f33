import { defined, type RunEvent, type RunInput } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { CallRecorder } from '../call-recorder.ts'
import { type ModelSettings, secretsOf } from '../model/settings.ts'
import { standsAtBreakpoint } from './breakpoint.ts'
import { changedState } from './changed-state.ts'
import { checkpointEvent, replacedSaver, seedCheckpoint } from './checkpoint.ts'
import { rebuiltState } from './checkpoint-rebuild.ts'
import { pushedMessages, streamWriter } from './custom-stream.ts'
import { GraphCalls } from './graph-calls.ts'
import { EventMapper, graphEvents } from './graph-events.ts'
import { answersIn, goesOn, graphInput, messageIds, untrackedChannels } from './graph-input.ts'
import { askedAs, breakpointEvent, breakpointOf, interruptEvent, openQuestions } from './graph-interrupts.ts'
import { GraphPrompt } from './graph-prompt.ts'
import { describeGraph } from './graph-shape.ts'
import { GraphState } from './graph-state.ts'
import type { CompiledGraph, GraphAgentFile, Snapshot } from './langgraph-agent.ts'
import { eventsOf, streamModes } from './node-cache.ts'
import { lostThread, ownSaver, ownSaverNote, threadEvent } from './own-saver.ts'
import { runChain } from './run-chain.ts'
import { clientConfig, storeNote } from './run-config.ts'
import { StepKeeper } from './step-keeper.ts'

/** Steps of a graph whose author has set no limit; LangGraph's own is 25. */
const maxSteps = 200

/** One run of a graph, as events. */
export async function* runGraph(
  file: GraphAgentFile,
  input: RunInput,
  context: RunContext,
  models: ModelSettings,
): AsyncGenerator<RunEvent> {
  const { graph } = file
  const saver = await seedCheckpoint(graph, context)
  const own = saver === undefined ? ownSaver(graph, context) : undefined
  const given = clientConfig(input, context)
  const isResumable = file.resumable === true
  const kept = saver ?? (isResumable ? own?.saver : undefined)
  const keep = kept === undefined ? undefined : new StepKeeper(kept, context, isResumable)
  const prompt = new GraphPrompt(context)
  const calls = new GraphCalls(new CallRecorder(context, input, secretsOf(models)), context.now, prompt)
  const config = {
    ...keep?.config,
    version: 'v2',
    streamMode: streamModes(graph),
    signal: own === undefined ? context.signal : AbortSignal.any([context.signal, own.saver.signal]),
    recursionLimit: graph.config?.recursionLimit ?? maxSteps,
    writer: await streamWriter(),
    callbacks: [...(keep?.handlers ?? []), calls.handler, await pushedMessages()],
    ...given,
    configurable: { ...given.configurable, thread_id: context.session, millrace: { input, context, models, prompt } },
  }
  // A checkpoint from an import can make even the first read throw; it must be forgotten then, too.
  try {
    const found = await stateOf(graph, config)
    const change = await changedState(graph, config, input, context, found)
    const before = change.applied ? await stateOf(graph, config) : found
    const rebuilt = saver === undefined ? { values: {}, notes: [] } : await rebuiltState(graph, context)
    const values = { ...rebuilt.values, ...change.values }
    const next =
      change.input ?? (await graphInput(graph, input, context, before, saver !== undefined, values, change.values))
    yield* rebuilt.notes
    if (saver?.replaced === true && !context.history.some(({ event }) => isNote(event))) yield replacedSaver
    if (own !== undefined) yield* [...ownSaverNote(own.saver, context), ...lostThread(before, own.saver, context)]
    if (own !== undefined) yield* threadEvent(before, context)
    yield* storeNote(graph, context)
    const state = new GraphState(context.state, before.values, untrackedChannels(graph))
    const known = [...messageIds(before), ...messageIds({ values: rebuilt.values })]
    const chain = runChain(context, goesOn(next))
    const mapper = new EventMapper(describeGraph(graph), context, state, known, chain, calls, firstStep(before, next))
    const callbacks = [...config.callbacks, mapper.parentCommands.handler]
    const isStopped = standsAtBreakpoint(graph, before, input, context)
    const streamed = isStopped ? noEvents() : eventsOf(graph, next, { ...config, callbacks })
    const events = own === undefined ? streamed : own.saver.during(streamed)
    try {
      for await (const event of graphEvents(events, mapper, keep?.started)) {
        state.saw(event)
        if (event.kind === 'node.started') yield* keep?.before(mapper.nodes.progress(graph)) ?? []
        if (event.kind === 'node.finished') await keep?.stored()
        yield event
        const isWhole = event.kind === 'node.finished' && !mapper.nodes.isLeaving
        if (isWhole) yield* keep?.before(mapper.nodes.progress(graph)) ?? []
      }
    } catch (error) {
      // What the last whole step wrote, for example before the graph's limit of steps ended it.
      const { values } = await wholeSteps(graph, config).catch((): Snapshot => ({}))
      yield* [...state.checkpoint(values), ...(keep?.before() ?? [])]
      throw error
    }
    const after = await stateOf(graph, config)
    // The writes of a last step that an interrupt kept from ending.
    yield* state.checkpoint(after.values)
    // Throws a one-sentence error if the state is too large.
    if (saver !== undefined) yield checkpointEvent(saver, context.session)
    yield* waiting(after, mapper, answeredIn(input, context))
  } finally {
    keep?.close()
    own?.end()
    saver?.forget(context.session)
  }
}

/** The step of the first nodes: LangGraph counts on from the last checkpoint, and takes two more steps for an input. */
function firstStep({ metadata: { step = -2 } = {} }: Snapshot, input: unknown): number {
  return step + (goesOn(input) ? 1 : 3)
}

/** The questions that the graph stopped with. The nodes that asked them wait for the answers. */
function* waiting(after: Snapshot, mapper: EventMapper, answered: readonly string[]): Generator<RunEvent> {
  const open = openQuestions(after)
  const stop = breakpointOf(after)
  if (open.length === 0 && stop === undefined) return
  for (const { task, asked } of open) {
    const id = asked.id === undefined ? undefined : askedAs(asked.id, answered)
    yield interruptEvent({ ...asked, ...defined({ id }) }, mapper.nodes.asking(task))
  }
  if (stop !== undefined) yield breakpointEvent(stop, after)
  yield* mapper.nodes.wait()
  yield { kind: 'run.finished', outcome: 'interrupted' }
}

/** The questions that earlier runs of this session answered, and those that this run answers. */
function answeredIn(input: RunInput, { history }: RunContext): readonly string[] {
  const inputs = history.flatMap(({ event }) => (event.kind === 'run.started' ? [event.input] : []))
  const resumed = history.flatMap(({ event }) => (event.kind === 'resumed' ? [event.interrupt] : []))
  return [...resumed, ...[...inputs, input].flatMap(answersIn).map(({ interrupt }) => interrupt)]
}

async function* noEvents(): AsyncGenerator<never> {}

function isNote(event: RunEvent): boolean {
  return event.kind === 'log' && event.message === replacedSaver.message
}

async function stateOf(graph: CompiledGraph, config: object): Promise<Snapshot> {
  const has = graph.checkpointer !== undefined && graph.checkpointer !== false
  return has ? graph.getState(config, { subgraphs: true }) : {}
}

/** The state after the last step that ended. Without its id, LangGraph adds what the nodes of a failed step wrote. */
async function wholeSteps(graph: CompiledGraph, config: { readonly configurable: object }): Promise<Snapshot> {
  const { config: newest } = await stateOf(graph, config)
  if (newest?.configurable === undefined) return {}
  const { checkpoint_id, checkpoint_ns = '' } = newest.configurable
  return stateOf(graph, { ...config, configurable: { ...config.configurable, checkpoint_id, checkpoint_ns } })
}
