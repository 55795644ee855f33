import { type AdkEvent, type AdkPart, isObject, type Json, MillraceError, type RunEvent } from '@millrace/core'
import type { AgentGraph, RunContext } from '../agent.ts'
import { thrownAt } from '../author-place.ts'
import { type LangChainCall, langChainCall } from '../langchain-call.ts'
import { messageParts, type ToolAnswer, toolAnswer } from '../langchain-message.ts'
import { messageOf } from '../problem.ts'
import { isFailedResult, resultTooLarge } from '../tool-result.ts'
import { customRecord, pushedEvent } from './custom-stream.ts'
import { errorText } from './error-text.ts'
import type { GraphCalls } from './graph-calls.ts'
import { type GraphNode, GraphNodes } from './graph-nodes.ts'
import { type GraphState, updatesOf } from './graph-state.ts'
import type { StreamEvent } from './langgraph-agent.ts'
import { cachedUpdates } from './node-cache.ts'
import { ParentCommands } from './parent-commands.ts'
import type { RunChain } from './run-chain.ts'
import { toJson } from './state-json.ts'
import { inSteps, type StepEvent } from './steps.ts'
import { answerIn, type HeldAnswer, ToolAnswers } from './tool-answers.ts'

/** The name of the custom event by which a graph's own code records a canonical event (tasks, artifacts, data). */
export const recordEvent = 'millrace'

/** Characters of JSON that a tool may return: the graph's checkpoint repeats it, and the log stores both. */
const maxToolResult = 1_000_000

/**
 * LangGraph's `streamEvents` v2 as canonical events: author = node name, chat tokens = partials, the end of a model
 * call = the aggregate, tools = calls and responses, node start and end, the state after each step as patches. A model
 * call tagged `nostream` (LangGraph's own tag) is left out: its structured output is not for people. `started` is called
 * after the events of a start were taken.
 */
export async function* graphEvents(
  events: AsyncIterable<StreamEvent>,
  mapper: EventMapper,
  started: (event: StreamEvent) => Promise<void> = async () => {},
): AsyncGenerator<RunEvent> {
  try {
    for await (const event of inSteps(events)) {
      yield* noted(mapper, mapper.map(event))
      if (event.event === 'on_chain_start') await started(event)
    }
    yield* mapper.settle()
    yield* mapper.left()
    yield* mapper.calls.cut('The graph ended before the model had answered.')
  } catch (error) {
    yield* mapper.settle()
    yield* mapper.left()
    const message = messageOf(error)
    yield* mapper.calls.cut(message)
    const thrown = thrownAt(error, 'the graph', message)
    if (thrown !== undefined) yield thrown
    yield* mapper.nodes.fail(message)
    throw error instanceof Error ? error : new MillraceError('agent-error', message, {}, error)
  }
}

/** The events, each noted: a request to a model names the messages that it repeats. */
function* noted(mapper: EventMapper, events: Iterable<RunEvent>): Generator<RunEvent> {
  for (const event of events) {
    mapper.calls.note(event)
    yield event
  }
}

/** The kinds of recorded facts that name their node, so that they can be superseded with it. */
const inNode: ReadonlySet<RunEvent['kind']> = new Set([
  'artifact',
  'data',
  'log',
  'tasks',
  'tasks.changed',
  'task.started',
  'task.finished',
  'task.reflected',
])

/** What an ADK event has beside its parts. */
interface Said extends Pick<LangChainCall, 'usage' | 'model'> {
  readonly id: string
  readonly partial?: boolean
  readonly role?: string
  /** The node's own code said it, and no model. */
  readonly byCode?: boolean
}

export class EventMapper {
  readonly nodes: GraphNodes
  readonly calls: GraphCalls
  readonly parentCommands = new ParentCommands()
  readonly #context: RunContext
  readonly #state: GraphState
  /** Ids of the calls and messages already shown. */
  readonly #calls: Set<string>
  readonly #spoken: Set<string>
  /** Messages shown before they had an id: LangGraph gives it later, to the message or to a copy of it. */
  readonly #shown = new WeakSet<object>()
  readonly #withoutId: string[] = []
  /** Calls whose tool has not started yet: call id → tool. */
  readonly #waiting: Map<string, string>
  readonly #answers = new ToolAnswers()
  /** The task that the graph's own code has started. */
  #task: string | undefined

  /** `known` are the ids of the messages that were in the graph's state before. */
  constructor(
    graph: AgentGraph,
    context: RunContext,
    state: GraphState,
    known: Iterable<string>,
    chain: RunChain,
    calls: GraphCalls,
    firstStep?: number,
  ) {
    this.calls = calls
    this.nodes = new GraphNodes(graph, chain, context.now, firstStep)
    this.#state = state
    this.#spoken = new Set(known)
    this.#context = context
    this.#calls = new Set(chain.openCalls.keys())
    this.#waiting = new Map(chain.openCalls)
    this.#task = chain.task
  }

  *map(event: StepEvent): Generator<RunEvent> {
    // The end of a step without an open node: the run's input, or the state from before.
    if (event.values !== undefined && !this.nodes.has(event.run_id)) yield* this.#state.step(event.values)
    if (event.tags?.includes('langsmith:hidden') === true) return
    if (!event.event.startsWith('on_chain_')) {
      const goesOn = !event.event.startsWith('on_tool_')
      yield* this.#told(this.#answers.take(this.nodes.of(event).node, goesOn))
    }
    switch (event.event) {
      case 'on_chain_stream':
        for (const [name, output] of cachedUpdates(event)) yield* this.#cached(event, name, output)
        return
      case 'on_chain_start':
        // A node that is tried again ends here for the first time.
        if (!isNode(event)) return
        yield* this.settle()
        yield* this.left(event)
        yield* this.nodes.start(event)
        return
      case 'on_chain_end':
        yield* this.#end(event)
        return
      case 'on_chat_model_start':
        yield* this.calls.modelStarted(event, this.nodes.of(event))
        return
      case 'on_chat_model_stream':
        this.calls.heard(event)
        if (!isNotStreamed(event)) yield* this.#message(event, event.data?.chunk, true)
        return
      case 'on_chat_model_end':
        yield* this.#modelEnded(event)
        return
      case 'on_tool_start':
        yield* this.#toolStarted(event)
        return
      case 'on_tool_end':
        yield* this.#toolEnded(event, answerIn(event.data?.output, this.#answers.callOf(event.run_id)))
        return
      case 'on_tool_error':
        // The tool asks a person and runs again with the answer.
        if (isInterrupt(event.data?.error)) return
        yield* this.#toolEnded(event, {
          id: undefined,
          response: { error: errorText(event.data?.error) },
        })
        return
      case 'on_custom_event':
        if (event.name === pushedEvent) yield* this.#newMessage(event.run_id, this.nodes.of(event), event.data?.message)
        else if (event.name !== recordEvent) yield customRecord(event, this.nodes.of(event))
        else if (isObject(event.data)) yield this.#recorded(event)
        return
      default:
    }
  }

  *#modelEnded(event: StreamEvent): Generator<RunEvent> {
    let message: string | undefined
    const said = isNotStreamed(event) ? this.#usedOnly(event) : this.#message(event, event.data?.output, false)
    for (const each of said) {
      if (each.kind === 'agent' && each.event.content !== undefined) message = each.message
      yield each
    }
    yield* this.calls.modelEnded(event, message)
  }

  /** The nodes that left their graph by a command, before this event or before the end of the run. */
  *left(event?: StreamEvent): Generator<RunEvent> {
    for (const [run, node] of this.nodes.left((each) => this.parentCommands.has(each), event)) {
      const command = this.parentCommands.take(run)
      yield* this.#told(this.#answers.final(node.node, command))
      yield* this.#returned(run, node, command)
      yield* this.nodes.endAll(node)
    }
  }

  *#end(event: StepEvent): Generator<RunEvent> {
    if (this.nodes.has(event.run_id)) yield* this.left(event)
    const node = this.nodes.end(event.run_id)
    if (node === undefined) return
    const output = event.data?.output
    yield* this.#told(this.#answers.final(node.node, output))
    yield* this.calls.cut('The node ended before its model had answered.', node.node)
    yield* this.#returned(event.run_id, node, output)
    if (event.values !== undefined) yield* this.#state.step(event.values)
    yield this.nodes.finished(node.node, { status: 'ok' })
  }

  /** A node whose answer came from a cache: its code did not run, but it has said what it says. */
  *#cached(event: StepEvent, name: string, output: unknown): Generator<RunEvent> {
    if (this.nodes.isDone(name)) return
    const run = `${event.run_id} ${name}`
    yield* this.nodes.start(this.nodes.unseen(run, name))
    const node = this.nodes.end(run)
    if (node === undefined) return
    for (const each of [output].flat()) yield* this.#returned(event.run_id, node, each)
    yield this.nodes.finished(node.node, { status: 'ok' })
  }

  /** What a node returned: messages that are not in the log yet, and the keys that it wrote. */
  *#returned(run: string, node: GraphNode, output: unknown): Generator<RunEvent> {
    // Only a workflow of the functional API returns a text.
    if (typeof output === 'string' && node.parent === undefined) {
      yield this.#agent(node, [{ text: output }], { id: run, byCode: true })
    }
    for (const [key, update] of updatesOf(output)) {
      if (key !== 'messages') continue
      // LangGraph accepts one message in place of a list.
      for (const message of [update ?? []].flat()) {
        yield* this.#newMessage(run, node, message)
        yield* this.#answerWithoutRun(node, message)
      }
    }
    if (node.parent === undefined) this.#state.wrote(node.node, output)
  }

  /** A message that the node made itself, without a streamed model call: its text and calls are not in the log yet. */
  *#newMessage(run: string, node: GraphNode, message: unknown): Generator<RunEvent> {
    const { id, type, parts } = messageParts(message)
    if (type !== 'ai' || parts.length === 0 || this.#isShown(message, id, parts)) return
    const fresh = parts.filter(
      (part) => part.functionCall === undefined || !this.#calls.has(part.functionCall.id ?? ''),
    )
    if (fresh.length > 0) yield this.#agent(node, fresh, { id: id ?? run, byCode: true })
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
  *#answerWithoutRun(node: GraphNode, message: unknown): Generator<RunEvent> {
    if (messageParts(message).type !== 'tool') return
    const { id, response } = toolAnswer(message)
    const name = id === undefined ? undefined : this.#waiting.get(id)
    if (id === undefined || name === undefined) return
    this.#waiting.delete(id)
    const part = { functionResponse: { id, name, response } }
    yield this.#agent(node, [part], { id: `result-${id}`, role: 'user' })
  }

  *#message(event: StreamEvent, message: unknown, partial: boolean): Generator<RunEvent> {
    const node = this.nodes.of(event)
    const { id, parts } = messageParts(message)
    const shown = partial ? parts.filter((part) => part.functionCall === undefined) : parts
    if (!partial && id !== undefined) this.#spoken.add(id)
    if (shown.length === 0) {
      if (!partial) yield* this.#usedOnly(event)
      return
    }
    const used = partial ? {} : langChainCall(message, event.metadata)
    yield this.#agent(node, shown, { id: event.run_id, partial, ...used })
  }

  /** A model call that people do not see has used tokens too. */
  *#usedOnly(event: StreamEvent): Generator<RunEvent> {
    const used = langChainCall(event.data?.output, event.metadata)
    if (used.usage !== undefined) yield this.#agent(this.nodes.of(event), [], { id: event.run_id, ...used })
  }

  /** A tool that a node calls itself, without a message, gets a call too; its id is the LangChain run of the tool. */
  *#toolStarted(event: StreamEvent): Generator<RunEvent> {
    const node = this.nodes.of(event)
    const asked = this.calls.calledBy(event.run_id)
    const isSure = asked !== undefined && this.#calls.has(asked)
    const called = isSure ? this.#openCall(asked, node) : this.#openCallOf(event.name)
    const call = called ?? event.run_id
    this.#answers.started(event.run_id, call, node, isSure)
    this.calls.toolStarted(event.run_id, call)
    if (called !== undefined) {
      this.#waiting.delete(called)
      return
    }
    const input = toJson(event.data?.input)
    const args = isObject(input) ? (input as Record<string, Json>) : { input: input ?? null }
    const part = { functionCall: { id: event.run_id, name: event.name, args } }
    yield this.#agent(node, [part], { id: `call-${event.run_id}`, byCode: true })
    this.#waiting.delete(event.run_id)
  }

  /** The call that a tool runs for, unless that call has its answer already. */
  #openCall(call: string, node: GraphNode): string | undefined {
    return this.#answers.dropFailedTry(call, node) || this.#waiting.has(call) ? call : undefined
  }

  #openCallOf(tool: string): string | undefined {
    return [...this.#waiting].find(([, name]) => name === tool)?.[0]
  }

  *#toolEnded(event: StreamEvent, answer: ToolAnswer): Generator<RunEvent> {
    const { length } = JSON.stringify(answer.response)
    if (length > maxToolResult) throw new MillraceError('limit', resultTooLarge(event.name, length, maxToolResult))
    const node = this.nodes.of(event)
    yield* this.calls.toolEnded(event, isFailedResult(answer.response), node)
    const given = this.#answers.ended(event.run_id, node, event.name, answer, (id) => this.#calls.has(id))
    if (given !== undefined) yield* this.#told([given])
  }

  *#told(answers: readonly HeldAnswer[]): Generator<RunEvent> {
    for (const { run, node, response } of answers) {
      yield this.#agent(node, [{ functionResponse: response }], { id: `result-${run}`, role: 'user' })
    }
  }

  /** The answers that are held back, where nothing follows in their nodes. */
  *settle(): Generator<RunEvent> {
    yield* this.#told(this.#answers.takeAll())
  }

  #recorded(event: StreamEvent): RunEvent {
    const node = this.nodes.of(event)
    const recorded = event.data as unknown as RunEvent
    if (recorded.kind === 'task.started') this.#task = recorded.task
    if (recorded.kind === 'task.finished') this.#task = undefined
    return node.node !== '' && inNode.has(recorded.kind) ? ({ node: node.node, ...recorded } as RunEvent) : recorded
  }

  #agent(
    node: GraphNode,
    parts: readonly AdkPart[],
    { id, partial = false, role = 'model', usage, model, byCode = false }: Said,
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
      ...(parts.length === 0 ? {} : { content: { role, parts } }),
      ...(partial ? { partial } : {}),
      ...(usage === undefined ? {} : { usageMetadata: usage }),
      ...(model === undefined ? {} : { modelVersion: model }),
      ...(node.node === '' ? {} : { branch: node.node }),
    }
    return {
      kind: 'agent',
      event,
      message: id,
      ...(node.node === '' ? {} : { node: node.node }),
      ...(this.#task === undefined ? {} : { task: this.#task }),
      ...(byCode ? { model: false } : {}),
    }
  }
}

function isNode({ name, metadata }: StreamEvent): boolean {
  return metadata?.langgraph_node === name && name !== '__start__'
}

function isNotStreamed({ tags = [] }: StreamEvent): boolean {
  return tags.includes('nostream') || tags.includes('langsmith:nostream')
}

/** LangChain reports a thrown error as its message, an empty line and its stack. */
function isInterrupt(error: unknown): boolean {
  return /(^|\n)(Graph|Node)Interrupt: \[/.test(String(error))
}
