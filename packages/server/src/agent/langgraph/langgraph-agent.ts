import { isDeepStrictEqual } from 'node:util'
import { defined, isObject, MillraceError, type RunEvent, type RunInput } from '@millrace/core'
import type { Agent, AgentDescription, AgentGraph, EngineDescription, RunContext } from '../agent.ts'
import type { ModelSettings } from '../model/settings.ts'
import { checkpointEvent, seedCheckpoint } from './checkpoint.ts'
import { graphEvents } from './graph-events.ts'
import { GraphState } from './graph-state.ts'
import { messageParts } from './message-parts.ts'
import { toJson } from './state-json.ts'
import { stepMode } from './steps.ts'

/** The part of a compiled LangGraph that we use; any version that has it works. */
export interface CompiledGraph {
  checkpointer?: unknown
  readonly channels?: Readonly<Record<string, unknown>>
  streamEvents(input: unknown, config: Readonly<Record<string, unknown>>): AsyncIterable<StreamEvent>
  getState(config: object): Promise<Snapshot>
  getGraphAsync?(): Promise<DrawableGraph>
  getGraph(): DrawableGraph
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
interface Snapshot {
  readonly values?: unknown
  readonly next?: readonly string[]
  readonly tasks?: readonly { readonly name: string; readonly interrupts?: readonly GraphInterrupt[] }[]
}
interface GraphInterrupt {
  readonly id?: string
  readonly value?: unknown
}
interface DrawableGraph {
  readonly nodes: Readonly<Record<string, { readonly id: string }>>
  readonly edges: readonly { readonly source: string; readonly target: string; readonly conditional?: boolean }[]
}

export interface GraphAgentFile {
  readonly graph: CompiledGraph
  readonly description?: string
  readonly examples?: readonly string[]
  readonly resumable?: boolean
  readonly model?: { readonly name: string; readonly offline: boolean }
}

/** What the engine says of itself in the description of each of its agents. */
export const langgraphAbout: EngineDescription = { engine: 'langgraph', engineLabel: 'LangGraph' }

/** An agent that runs a compiled graph. The graph is loaded on first use. */
export function graphAgent(name: string, load: () => Promise<GraphAgentFile>, models: ModelSettings = {}): Agent {
  return {
    name,
    async describe(): Promise<AgentDescription> {
      const { graph, description = '', examples = [], resumable = false, model } = await load()
      return {
        name,
        description,
        ...langgraphAbout,
        graph: describeGraph(graph.getGraph()),
        examples,
        resumable,
        ...defined({ model }),
      }
    },
    async *run(input, context) {
      yield* runGraph(await load(), input, context, models)
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
  const config = {
    version: 'v2',
    streamMode: [stepMode],
    signal: context.signal,
    recursionLimit: 200,
    configurable: { thread_id: context.session, millrace: { input, context, models } },
  }
  // A checkpoint from an import can make even the first read throw; it must be forgotten then, too.
  try {
    const before = await stateOf(graph, config)
    const next = await graphInput(graph, input, context, before)
    const state = new GraphState(context.state, before.values)
    const drawn = describeGraph(graph.getGraph())
    const keep = file.resumable === true && saver !== undefined
    const stream = graph.streamEvents(next, config)
    for await (const event of graphEvents(stream, drawn, context, state, messageIds(before))) {
      state.saw(event)
      yield event
      if (keep && event.kind === 'node.finished') yield checkpointEvent(saver, context.session)
    }
    const after = await stateOf(graph, config)
    // The writes of a last step that an interrupt kept from ending.
    yield* state.step(after.values)
    const waiting = openInterrupts(after)
    if (saver !== undefined) yield checkpointEvent(saver, context.session)
    if (waiting.length > 0) {
      yield* waiting.map(interruptEvent)
      yield { kind: 'run.finished', outcome: 'interrupted' }
    }
  } finally {
    saver?.forget(context.session)
  }
}

/** New messages, or answers to interrupts, or nothing after a crash: LangGraph then continues from the checkpoint. */
async function graphInput(
  graph: CompiledGraph,
  input: RunInput,
  context: RunContext,
  before: Snapshot,
): Promise<unknown> {
  const open = openInterrupts(before)
  if (open.length > 0 && (input.resume?.length ?? 0) > 0) {
    const { Command } = await import('@langchain/langgraph')
    const answers = (input.resume ?? []).map(({ interrupt, payload, status }) => [
      interrupt,
      status === 'cancelled' ? { cancelled: true } : (payload ?? true),
    ])
    return new Command({ resume: Object.fromEntries(answers) })
  }
  if (context.resumed) return null
  const { HumanMessage, SystemMessage, AIMessage, ToolMessage } = await import('@langchain/core/messages')
  const messages = input.messages.map(({ id, role, content }) => {
    const parts = content.parts ?? []
    const text = parts.map((part) => part.text ?? '').join('')
    const answer = parts.find((part) => part.functionResponse !== undefined)?.functionResponse
    if (role === 'tool' && answer !== undefined) {
      return new ToolMessage({ id, content: JSON.stringify(answer.response ?? {}), tool_call_id: answer.id ?? '' })
    }
    if (role === 'assistant') return new AIMessage({ id, content: text })
    if (role === 'system' || role === 'developer') return new SystemMessage({ id, content: text })
    return new HumanMessage({ id, content: text })
  })
  const known = new Set(Object.keys(graph.channels ?? {}))
  const held = isObject(before.values) ? before.values : {}
  // A client sends the whole state back. Unchanged keys are left out, because a reducer would add them once more.
  const state = Object.entries(input.state ?? {}).filter(
    ([key, value]) =>
      known.has(key) &&
      key !== 'messages' &&
      !(Object.hasOwn(held, key) && isDeepStrictEqual(toJson(held[key]), value)),
  )
  return { ...Object.fromEntries(state), messages }
}

async function stateOf(graph: CompiledGraph, config: object): Promise<Snapshot> {
  return graph.checkpointer === undefined || graph.checkpointer === false ? {} : graph.getState(config)
}

function openInterrupts({ tasks = [] }: Snapshot): readonly GraphInterrupt[] {
  return tasks.flatMap(({ interrupts = [] }) => interrupts)
}

/** The ids of the messages from earlier runs, which are in the log already. */
function messageIds({ values }: Snapshot): readonly string[] {
  const messages = isObject(values) && Array.isArray(values.messages) ? values.messages : []
  return messages.flatMap((message) => messageParts(message).id ?? [])
}

/** `interrupt({ reason, message, schema, … })` in a node sets these fields; any other value is the message itself. */
function interruptEvent({ id, value }: GraphInterrupt): RunEvent {
  if (id === undefined)
    throw new MillraceError('agent-error', 'the graph was interrupted without an id: use a newer @langchain/langgraph')
  const asked = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : { message: value }
  const text = asked.message ?? asked.question ?? asked.prompt
  return {
    kind: 'interrupt',
    id,
    reason: typeof asked.reason === 'string' ? asked.reason : 'input_required',
    ...(typeof text === 'string' ? { message: text } : {}),
    ...(typeof asked.schema === 'object' && asked.schema !== null ? { schema: asked.schema as never } : {}),
    payload: JSON.parse(JSON.stringify(value ?? null)),
  }
}

function describeGraph({ nodes, edges }: DrawableGraph): AgentGraph {
  const kind = (id: string) => (id === '__start__' ? 'start' : id === '__end__' ? 'end' : 'step')
  return {
    nodes: Object.keys(nodes).map((id) => ({ id, kind: kind(id) })),
    edges: edges.map(({ source, target }) => ({ from: source, to: target })),
  }
}
