import {
  type AdkEvent,
  type AdkPart,
  type AdkUsage,
  isObject,
  type Json,
  MillraceError,
  type NodeId,
  type RunEvent,
} from '@millrace/core'
import type { AgentGraph, RunContext } from '../agent.ts'
import { thrownAt } from '../author-place.ts'
import { messageOf } from '../problem.ts'
import { resultTooLarge } from '../tool-result.ts'
import { type GraphState, updatesOf } from './graph-state.ts'
import type { StreamEvent } from './langgraph-agent.ts'
import { graphUsageOf, messageParts, type ToolAnswer, toolAnswer } from './message-parts.ts'
import { toJson } from './state-json.ts'
import { inSteps, type StepEvent } from './steps.ts'

/** The name of the custom event by which a graph's own code records a canonical event (tasks, artifacts, data). */
export const recordEvent = 'millrace'

/** Characters of JSON that a tool may return: the graph's checkpoint repeats it, and the log stores both. */
const maxToolResult = 1_000_000

interface OpenNode {
  readonly node: NodeId
  readonly name: string
  readonly step: number
  /** LangGraph's name for the task: a retry has the same one. */
  readonly task: unknown
}

/**
 * LangGraph's `streamEvents` v2 as canonical events: author = node name, chat tokens = partials, the end of a model
 * call = the aggregate, tools = calls and responses, node start and end, the state after each step as patches. A model
 * call tagged `nostream` (LangGraph's own tag) is left out: its structured output is not for people.
 */
export async function* graphEvents(
  events: AsyncIterable<StreamEvent>,
  graph: AgentGraph,
  context: RunContext,
  state: GraphState,
  known: Iterable<string> = [],
): AsyncGenerator<RunEvent> {
  const mapper = new EventMapper(graph, context, state, known)
  try {
    for await (const event of inSteps(events)) yield* mapper.map(event)
  } catch (error) {
    const message = messageOf(error)
    const thrown = thrownAt(error, 'the graph', message)
    if (thrown !== undefined) yield thrown
    yield* mapper.fail(message)
    throw error instanceof Error ? error : new MillraceError('agent-error', message, {}, error)
  }
}

class EventMapper {
  readonly #graph: AgentGraph
  readonly #context: RunContext
  readonly #state: GraphState
  readonly #open = new Map<string, OpenNode>()
  readonly #executions = new Map<string, number>()
  readonly #finished: OpenNode[] = []
  /** Ids of the calls and messages already shown. */
  readonly #calls = new Set<string>()
  readonly #spoken: Set<string>
  /** Messages shown before they had an id: LangGraph gives it later, to the message or to a copy of it. */
  readonly #shown = new WeakSet<object>()
  readonly #withoutId: string[] = []
  /** Calls whose tool has not started yet (call id → tool), and running tools (LangChain run → call id). */
  readonly #waiting = new Map<string, string>()
  readonly #running = new Map<string, string>()
  /** The task that the graph's own code has started. */
  #task: string | undefined

  /** `known` are the ids of the messages that were in the graph's state before. */
  constructor(graph: AgentGraph, context: RunContext, state: GraphState, known: Iterable<string>) {
    this.#state = state
    this.#spoken = new Set(known)
    this.#graph = graph
    this.#context = context
  }

  *map(event: StepEvent): Generator<RunEvent> {
    // The end of a step without an open node: the run's input, or the state from before.
    if (event.values !== undefined && !this.#open.has(event.run_id)) yield* this.#state.step(event.values)
    if (event.tags?.includes('langsmith:hidden') === true) return
    switch (event.event) {
      case 'on_chain_start':
        if (isNode(event)) yield* this.#start(event)
        return
      case 'on_chain_end':
        yield* this.#end(event)
        return
      case 'on_chat_model_stream':
        if (!isNotStreamed(event)) yield* this.#message(event, event.data?.chunk, true)
        return
      case 'on_chat_model_end':
        if (!isNotStreamed(event)) yield* this.#message(event, event.data?.output, false)
        return
      case 'on_tool_start':
        yield* this.#toolStarted(event)
        return
      case 'on_tool_end':
        yield this.#toolEnded(event, toolAnswer(event.data?.output))
        return
      case 'on_tool_error':
        yield this.#toolEnded(event, {
          id: undefined,
          response: { error: String(event.data?.error ?? 'the tool failed') },
        })
        return
      case 'on_custom_event':
        if (event.name === recordEvent && isObject(event.data)) yield this.#recorded(event)
        return
      default:
    }
  }

  *fail(message: string): Generator<RunEvent> {
    for (const { node } of this.#open.values()) {
      yield { kind: 'node.finished', node, status: 'error', error: { code: 'agent-error', message } }
    }
    this.#open.clear()
  }

  *#start(event: StreamEvent): Generator<RunEvent> {
    const { name } = event
    const task = event.metadata?.langgraph_checkpoint_ns ?? event.metadata?.checkpoint_ns
    yield* this.#retry(name, task)
    const count = (this.#executions.get(name) ?? 0) + 1
    this.#executions.set(name, count)
    const step = Number(event.metadata?.langgraph_step ?? 0)
    const node: OpenNode = { node: `${name}@${count}`, name, step, task }
    if (!isInside(node)) yield* this.#endEarlierSteps(step)
    this.#open.set(event.run_id, node)
    const after = this.#before(node)
    yield { kind: 'node.started', node: node.node, agent: name, ...(after.length > 0 ? { after } : {}) }
  }

  /** LangGraph retries a node without reporting that the attempt before failed. */
  *#retry(name: string, task: unknown): Generator<RunEvent> {
    for (const [run, open] of this.#open) {
      if (task === undefined || open.name !== name || open.task !== task) continue
      this.#open.delete(run)
      const error = { code: 'agent-error' as const, message: `'${name}' failed and is tried again` }
      yield { kind: 'node.finished', node: open.node, status: 'error', error }
    }
  }

  /** A node whose inner graph leaves by `Command.PARENT` ends without an event: it is over when a later step starts. */
  *#endEarlierSteps(step: number): Generator<RunEvent> {
    for (const [, outer] of [...this.#open].filter(([, open]) => !isInside(open) && open.step < step)) {
      const isOf = ({ task }: OpenNode): boolean => String(task).startsWith(`${String(outer.task)}|`)
      // Inner nodes end first.
      for (const [run, open] of [...this.#open].reverse()) {
        if (open !== outer && !isOf(open)) continue
        this.#open.delete(run)
        this.#finished.push(open)
        yield { kind: 'node.finished', node: open.node, status: 'ok' }
      }
    }
  }

  /** The nodes of the latest earlier step that have an edge to this one: the edges really taken. */
  #before({ name, step }: OpenNode): readonly NodeId[] {
    const sources = new Set(this.#graph.edges.filter((edge) => edge.to === name).map((edge) => edge.from))
    const earlier = this.#finished.filter((done) => done.step < step && sources.has(done.name))
    const latest = Math.max(...earlier.map((done) => done.step))
    return earlier.filter((done) => done.step === latest).map((done) => done.node)
  }

  *#end(event: StepEvent): Generator<RunEvent> {
    const node = this.#open.get(event.run_id)
    if (node === undefined) return
    this.#open.delete(event.run_id)
    this.#finished.push(node)
    const output = event.data?.output
    for (const [key, update] of updatesOf(output)) {
      if (key !== 'messages') continue
      // LangGraph accepts one message in place of a list.
      for (const message of [update ?? []].flat()) {
        yield* this.#newMessage(event, node, message)
        yield* this.#answerWithoutRun(node, message)
      }
    }
    if (!isInside(node)) this.#state.wrote(node.node, output)
    if (event.values !== undefined) yield* this.#state.step(event.values)
    yield { kind: 'node.finished', node: node.node, status: 'ok' }
  }

  /** A message that the node made itself, without a streamed model call: its text and calls are not in the log yet. */
  *#newMessage(event: StreamEvent, node: OpenNode, message: unknown): Generator<RunEvent> {
    const { id, type, parts } = messageParts(message)
    if (type !== 'ai' || parts.length === 0 || this.#isShown(message, id, parts)) return
    const fresh = parts.filter(
      (part) => part.functionCall === undefined || !this.#calls.has(part.functionCall.id ?? ''),
    )
    if (fresh.length > 0) yield this.#agent(node, fresh, { id: id ?? event.run_id })
  }

  /** A node may return messages that are not new: an inner graph returns all of them each time. */
  #isShown(message: unknown, id: string | undefined, parts: readonly AdkPart[]): boolean {
    if (id !== undefined && this.#spoken.has(id)) return true
    const text = JSON.stringify(parts)
    const copied = id === undefined ? -1 : this.#withoutId.indexOf(text)
    if (copied >= 0) this.#withoutId.splice(copied, 1)
    else if (id === undefined) this.#withoutId.push(text)
    if (id !== undefined) this.#spoken.add(id)
    const known = copied >= 0 || (isObject(message) && this.#shown.has(message))
    if (isObject(message)) this.#shown.add(message)
    return known
  }

  /** An answer to a call whose tool never ran: no tool has that name, or the arguments did not fit. */
  *#answerWithoutRun(node: OpenNode, message: unknown): Generator<RunEvent> {
    if (messageParts(message).type !== 'tool') return
    const { id, response } = toolAnswer(message)
    const name = id === undefined ? undefined : this.#waiting.get(id)
    if (id === undefined || name === undefined) return
    this.#waiting.delete(id)
    const part = { functionResponse: { id, name, response } }
    yield this.#agent(node, [part], { id: `result-${id}`, role: 'user' })
  }

  *#message(event: StreamEvent, message: unknown, partial: boolean): Generator<RunEvent> {
    const node = this.#nodeOf(event)
    const { id, parts } = messageParts(message)
    const shown = partial ? parts.filter((part) => part.functionCall === undefined) : parts
    if (shown.length === 0) return
    if (!partial && id !== undefined) this.#spoken.add(id)
    const usage = partial ? undefined : graphUsageOf(message)
    yield this.#agent(node, shown, { id: event.run_id, partial, ...(usage === undefined ? {} : { usage }) })
  }

  /** A tool that a node calls itself, without a message, gets a call too; its id is the LangChain run of the tool. */
  *#toolStarted(event: StreamEvent): Generator<RunEvent> {
    const called = [...this.#waiting].find(([, name]) => name === event.name)?.[0]
    if (called !== undefined) {
      this.#waiting.delete(called)
      this.#running.set(event.run_id, called)
      return
    }
    const input = toJson(event.data?.input)
    const args = isObject(input) ? (input as Record<string, Json>) : { input: input ?? null }
    const part = { functionCall: { id: event.run_id, name: event.name, args } }
    yield this.#agent(this.#nodeOf(event), [part], { id: `call-${event.run_id}` })
    this.#waiting.delete(event.run_id)
  }

  #toolEnded(event: StreamEvent, answer: ToolAnswer): RunEvent {
    const own = answer.id !== undefined && this.#calls.has(answer.id) ? answer.id : undefined
    const id = own ?? this.#running.get(event.run_id) ?? event.run_id
    this.#running.delete(event.run_id)
    const { length } = JSON.stringify(answer.response)
    if (length > maxToolResult) throw new MillraceError('limit', resultTooLarge(event.name, length, maxToolResult))
    const part = { functionResponse: { id, name: event.name, response: answer.response } }
    return this.#agent(this.#nodeOf(event), [part], { id: `result-${event.run_id}`, role: 'user' })
  }

  #recorded(event: StreamEvent): RunEvent {
    const node = this.#nodeOf(event)
    const recorded = event.data as unknown as RunEvent
    if (recorded.kind === 'task.started') this.#task = recorded.task
    if (recorded.kind === 'task.finished') this.#task = undefined
    return recorded.kind === 'artifact' || recorded.kind === 'log' ? { node: node.node, ...recorded } : recorded
  }

  #agent(
    node: OpenNode,
    parts: readonly AdkPart[],
    { id, partial = false, role = 'model', usage }: { id: string; partial?: boolean; role?: string; usage?: AdkUsage },
  ): RunEvent {
    if (!partial) {
      for (const { functionCall } of parts) {
        if (functionCall?.id !== undefined) {
          this.#calls.add(functionCall.id)
          this.#waiting.set(functionCall.id, functionCall.name)
        }
      }
    }
    const { run, now, newId } = this.#context
    const event: AdkEvent = {
      id: newId(),
      author: node.name,
      invocationId: run,
      timestamp: now(),
      content: { role, parts },
      ...(partial ? { partial } : {}),
      ...(usage === undefined ? {} : { usageMetadata: usage }),
      ...(node.node === '' ? {} : { branch: node.node }),
    }
    return {
      kind: 'agent',
      event,
      message: id,
      ...(node.node === '' ? {} : { node: node.node }),
      ...(this.#task === undefined ? {} : { task: this.#task }),
    }
  }

  /** Events of a model or tool belong to the open node above them, else to the node their metadata names. */
  #nodeOf({ parent_ids = [], metadata }: StreamEvent): OpenNode {
    const parent = parent_ids.findLast((id) => this.#open.has(id))
    const open = parent === undefined ? undefined : this.#open.get(parent)
    const name = String(metadata?.langgraph_node ?? 'graph')
    return (
      open ??
      [...this.#open.values()].findLast((node) => node.name === name) ?? { node: '', name, step: 0, task: undefined }
    )
  }
}

function isNode({ name, metadata }: StreamEvent): boolean {
  return metadata?.langgraph_node === name && name !== '__start__'
}

function isNotStreamed({ tags = [] }: StreamEvent): boolean {
  return tags.includes('nostream') || tags.includes('langsmith:nostream')
}

/** Whether the node is in an inner graph: it writes that graph's state, not the outer one's. */
function isInside({ task }: OpenNode): boolean {
  return typeof task === 'string' && task.includes('|')
}
