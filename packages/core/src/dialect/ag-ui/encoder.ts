import type {
  AgentSaid,
  Interrupted,
  Logged,
  Recorded,
  ReplacedRun,
  RunEvent,
  RunFinished,
  RunStarted,
  StateChanged,
  Superseded,
} from '../../event/run-event.ts'
import { applyState } from '../../event/state-fold.ts'
import type { Frame } from '../../frame/frame.ts'
import { isJsonObject, type Json, type JsonObject, sameJson } from '../../json/json.ts'
import type { Encoder, EncoderOptions } from '../dialect.ts'
import { type Downgrade, downgrade } from './encode/downgrade.ts'
import { agUiInterrupt, ReportedUsage, terminal } from './encode/finish.ts'
import { MessageEncoder } from './encode/message.ts'
import { Nodes } from './encode/node.ts'
import { AgUiWriter, tagged } from './encode/writer.ts'
import { agUiLog, deltaOf, printFact, printPatch } from './fact.ts'
import { echoOf } from './input.ts'
import { type AgUiEvent, type AgUiMessage, keptOf, restOf } from './wire.ts'

/** Where old messages are forgotten, this many runs that have ended are still known. */
const mostEnded = 1000

/** The run that is being printed. */
interface Run {
  readonly id: string
  /** It was read from an AG-UI wire, which was complete: nothing is added except what verification needs. */
  readonly wired: boolean
  /** Names of the tools that the client runs itself. */
  readonly clientTools: ReadonlySet<string>
  /** Answers to interrupts that its RUN_STARTED already contained. */
  readonly answered: ReadonlySet<string>
  /** The state has changed since the last snapshot of this run. */
  changed: boolean
  /** Its client has no state at all (`null`), to which no delta applies: a snapshot comes first. */
  stateless: boolean
}

export interface AgUiEncoder extends Encoder {
  /** The conversation so far, as a client that followed from the start holds it. */
  readonly messages: readonly AgUiMessage[]
}

/**
 * Canonical events to AG-UI 1.0, or to 0.x where the request asks for it, from any log. AG-UI cannot carry events
 * outside a run; they are printed when the next run starts.
 */
export function agUiEncoder(options: EncoderOptions): AgUiEncoder {
  return new Encoding(options)
}

class Encoding implements AgUiEncoder {
  readonly #session: string
  readonly #echo: boolean
  /** For a reader of 0.x: the last step of printing. */
  readonly #downgrade: Downgrade | undefined
  readonly #writer: AgUiWriter
  readonly #nodes: Nodes
  readonly #speaker: MessageEncoder
  readonly #reported = new ReportedUsage()
  readonly #asked = new Map<string, Interrupted & RunEvent>()
  /** Calls that the client has not answered, by their question: one of two may be answered before the other. */
  readonly #clientCalls = new Map<string, string>()
  readonly #ended = new Set<string>()
  #state: JsonObject = {}
  #run: Run | undefined
  /** The start and end of the last run that has ended, for a reader that joins before the next. */
  #last: { readonly id: string; readonly end: AgUiEvent } | undefined
  /** What happened outside any run: events to print, and whether messages or state have changed. */
  readonly #held: AgUiEvent[] = []
  #stale = { messages: false, state: false }
  /** The messages of a snapshot that is about to be printed, as they were read. */
  readonly #snapshot = new Map<string, AgUiMessage>()

  constructor({ session, echo = true, protocol = '1', questions, history }: EncoderOptions) {
    this.#session = session
    this.#writer = new AgUiWriter(history)
    this.#nodes = new Nodes(this.#writer)
    this.#speaker = new MessageEncoder(this.#writer, this.#nodes)
    this.#echo = echo
    this.#downgrade = protocol === '0' ? downgrade(questions) : undefined
  }

  get messages(): readonly AgUiMessage[] {
    this.#speaker.streaming.document()
    return this.#writer.document.messages
  }

  push(row: Recorded): readonly Frame[] {
    const { event, run } = row
    if (event.kind === 'agent' && this.#run !== undefined && this.#downgrade === undefined) {
      const data = this.#speaker.streaming.token(event)
      if (data !== undefined) return [{ data }]
    }
    this.#speaker.streaming.interrupt()
    if (event.kind === 'run.started') this.#start(run, event)
    else {
      if (this.#run === undefined && run !== '' && !this.#ended.has(run)) this.#start(run, unannounced)
      if (event.kind === 'run.finished') this.#finish(run, event)
      else this.#print(event)
    }
    const made = this.#writer.take()
    if (this.#writer.document.full) this.#forget()
    if (this.#run === undefined && event.kind !== 'run.finished') return this.#hold(made)
    if (this.#downgrade === undefined) return made.map(frameOf)
    return made.flatMap((event) => (this.#downgrade?.push(event) ?? [event]).map(frameOf))
  }

  #forget(): void {
    this.#speaker.forget()
    for (const run of this.#ended) {
      if (this.#ended.size <= mostEnded) break
      this.#ended.delete(run)
    }
  }

  prelude(): readonly Frame[] {
    const id = this.#run?.id ?? this.#last?.id
    if (id === undefined) return []
    const frames: AgUiEvent[] = [
      { type: 'RUN_STARTED', threadId: this.#session, runId: id },
      { type: 'MESSAGES_SNAPSHOT', messages: [...this.messages] },
      { type: 'STATE_SNAPSHOT', snapshot: this.#state },
      ...this.#writer.reopened(),
    ]
    if (this.#run === undefined && this.#last !== undefined) frames.push(this.#last.end)
    return frames.flatMap((event) => (this.#downgrade?.repeat(event) ?? [event]).map(frameOf))
  }

  #start(id: string, event: RunStarted & RunEvent): void {
    if (this.#run?.id === id) return
    if (this.#run !== undefined) this.#finish(this.#run.id, lost)
    const kept = keptOf(event)
    const { agent, input, parent, forkOf, replaces = [] } = event
    this.#run = {
      id,
      wired: kept.wire === true,
      clientTools: new Set(input.tools?.map((tool) => tool.name)),
      answered: new Set(input.resume?.map((answer) => answer.interrupt)),
      changed: false,
      stateless: kept.stateless === true,
    }
    this.#ended.delete(id)
    this.#asked.clear()
    this.#writer.reset()
    this.#nodes.begin(agent, this.#run.wired)
    this.#speaker.begin(this.#run.wired)
    this.#reported.begin()
    this.#replace(replaces)
    const from = forkOf === undefined ? {} : { metadata: { millrace: { forkOf } } }
    const above = parent === undefined ? {} : { parentRunId: parent }
    const start = { type: 'RUN_STARTED', threadId: this.#session, runId: id, ...above, ...from, ...restOf(kept) }
    const echo = isJsonObject(kept.input) ? kept.input : echoOf(this.#session, id, input)
    const whole: AgUiEvent = echo === undefined ? start : { ...start, input: echo as JsonObject }
    this.#writer.writeAs(this.#echo ? whole : start, whole)
    this.#catchUp(this.#run, input.state, applyState(this.#state, event))
  }

  /**
   * Prints what a reader cannot know: events outside a run, state that came with the request and not on the stream,
   * and, for the client that made the request, state that it did not send.
   */
  #catchUp(run: Run, sent: JsonObject | undefined, state: JsonObject): void {
    const { wired } = run
    if (this.#stale.messages) this.#speaker.snapshot()
    const news = this.#stale.state || !sameJson(this.#state, state)
    this.#state = state
    if (news || (!wired && !sameJson(state, sent ?? {}))) {
      this.#writer.write({ type: 'STATE_SNAPSHOT', snapshot: this.#state })
      run.stateless = false
    }
    for (const fact of this.#held.splice(0)) this.#writer.write(fact)
    this.#stale = { messages: false, state: false }
  }

  #hold(made: readonly AgUiEvent[]): readonly Frame[] {
    for (const event of made) {
      if (event.type === 'CUSTOM' || event.type === 'RAW') this.#held.push(event)
      else if (event.type.startsWith('STATE_')) this.#stale.state = true
      else this.#stale.messages = true
    }
    this.#writer.reset()
    return []
  }

  #finish(id: string, event: RunFinished & RunEvent): void {
    const run = this.#run
    if (run === undefined || run.id !== id) return
    const { outcome } = event
    const asked = [...this.#asked.values()].filter((one) => !this.#isClientCall(run, one))
    for (const one of this.#asked.values())
      if (one.call !== undefined && !asked.includes(one)) this.#clientCalls.set(one.id, one.call)
    // A failed run that was read from an AG-UI wire is printed as it was: with RUN_ERROR while messages are open.
    if (!run.wired || outcome !== 'failed') this.#writer.closeAll((key, end) => this.#suspend(outcome, asked, key, end))
    const waits = outcome === 'interrupted' && asked.length > 0
    if (!run.wired && (run.changed || waits)) this.#writer.write({ type: 'STATE_SNAPSHOT', snapshot: this.#state })
    if (!run.wired && waits) this.#speaker.snapshot()
    const end = terminal(event, {
      threadId: this.#session,
      runId: id,
      interrupts: asked.map((one) => agUiInterrupt(one, this.#nodes.tagOf(one.node))),
      pending: [...new Set([...this.#clientCalls.values(), ...this.#speaker.waiting.map((call) => call.id)])],
      usage: run.wired ? [] : this.#reported.entries,
    })
    this.#writer.write(end)
    this.#writer.reset()
    this.#ended.add(id)
    this.#last = { id, end }
    this.#run = undefined
  }

  /** A subagent that waits for a person has not finished: its end names the interrupts it waits for. */
  #suspend(outcome: RunFinished['outcome'], asked: readonly Interrupted[], key: string, end: AgUiEvent): AgUiEvent {
    if (outcome !== 'interrupted' || end.type !== 'SUBAGENT_FINISHED') return end
    const mine = asked.filter(({ node }) => node !== undefined && this.#nodes.keyOf(node) === key)
    const interruptIds = mine.length === 0 ? {} : { interruptIds: mine.map((one) => one.id) }
    return { ...end, outcome: { type: 'suspended', ...interruptIds } }
  }

  #isClientCall({ clientTools }: Run, { call, reason }: Interrupted): boolean {
    if (call === undefined || reason !== 'tool_call') return false
    const name = this.#writer.document.call(call)?.call.function.name
    return name !== undefined && clientTools.has(name)
  }

  #print(event: Exclude<RunEvent, RunStarted | RunFinished>): void {
    switch (event.kind) {
      case 'agent':
        this.#agent(event)
        break
      case 'state':
        this.#patch(event)
        break
      case 'node.started':
        this.#nodes.started(event)
        break
      case 'node.finished':
        this.#nodes.finished(event)
        break
      case 'superseded':
        this.#supersede(event)
        break
      case 'interrupt':
        this.#asked.set(event.id, event)
        break
      case 'resumed':
        this.#asked.delete(event.interrupt)
        this.#clientCalls.delete(event.interrupt)
        if (this.#run?.answered.has(event.interrupt) !== true) this.#fact(event)
        break
      case 'log':
        this.#log(event)
        break
      // How a model or a tool was called is in the log alone: a client is shown what came of it.
      case 'model.started':
      case 'model.finished':
      case 'tool.finished':
      // What a person thinks of an answer is no part of the conversation.
      case 'feedback':
      case 'changed':
        break
      default:
        this.#fact(event)
    }
  }

  #agent(event: AgentSaid & RunEvent): void {
    const { message } = keptOf(event)
    if (isWireMessage(message)) {
      this.#snapshot.set(message.id, message)
      return
    }
    this.#reported.add(event.event)
    this.#speaker.say(event)
    const next = applyState(this.#state, event)
    if (next !== this.#state) {
      const delta = deltaOf(this.#state, next, event.event.actions?.stateDelta)
      this.#changed(next, { type: 'STATE_DELTA', delta, ...tagged(this.#nodes.tagOf(event.node)) })
    }
    const { errorCode, errorMessage } = event.event
    if (typeof errorCode === 'string' || typeof errorMessage === 'string') {
      const data = { author: event.event.author, ...(typeof errorCode === 'string' ? { code: errorCode } : {}) }
      const node = event.node === undefined ? {} : { node: event.node }
      this.#fact({ kind: 'log', level: 'error', message: errorMessage ?? errorCode ?? '', data, ...node })
    }
  }

  #patch(event: StateChanged & RunEvent): void {
    const rest = { ...tagged(this.#nodes.tagOf(event.node)), ...restOf(keptOf(event)) }
    const printed = printPatch(event.patch, rest)
    if (printed === undefined) this.#fact(event)
    else this.#changed(applyState(this.#state, event), printed)
  }

  #changed(next: JsonObject, printed: AgUiEvent): void {
    if (this.#run?.stateless === true) {
      if (printed.type === 'STATE_DELTA') this.#writer.write({ type: 'STATE_SNAPSHOT', snapshot: this.#state })
      this.#run.stateless = false
    }
    if (this.#run !== undefined && next !== this.#state) this.#run.changed = printed.type !== 'STATE_SNAPSHOT'
    this.#state = next
    this.#writer.write(printed)
  }

  /** The messages of replaced runs leave the conversation; a snapshot says so once the new run has started. */
  #replace(replaces: readonly ReplacedRun[]): void {
    for (const { messages } of replaces) {
      const ids = new Set(this.#speaker.cut(messages))
      for (const id of messages) if (this.#writer.document.message(id) !== undefined) ids.add(id)
      for (const [question, call] of this.#clientCalls) {
        if (ids.has(this.#writer.document.call(call)?.message.id ?? '')) this.#clientCalls.delete(question)
      }
      if (ids.size === 0) continue
      this.#writer.remove(ids)
      this.#stale = { ...this.#stale, messages: true }
    }
  }

  /** Messages that no longer count are closed, and removed by a snapshot without them. */
  #supersede(event: Superseded & RunEvent): void {
    if (keptOf(event).snapshot === true) return // read from a snapshot, which is printed by itself
    // Who reads tasks, artifacts and data has to know which of them no longer count. The snapshot tells it of messages.
    if (event.facts === true) this.#fact({ ...event, messages: [] })
    const ids = this.#speaker.cut(event.messages)
    for (const node of event.nodes) this.#writer.closeNode(this.#nodes.keyOf(node) ?? node)
    if (ids.size === 0) return
    this.#writer.remove(ids)
    this.#speaker.snapshot()
  }

  #log(event: Logged & RunEvent): void {
    const kept = keptOf(event)
    if (isWireMessage(kept.message)) this.#snapshot.set(kept.message.id, kept.message)
    else if (Array.isArray(kept.snapshot)) this.#retell(kept.snapshot, kept.same, restOf(kept))
    else if (kept.type === 'REASONING_START' || kept.type === 'REASONING_END') {
      const mark = { tag: this.#nodes.tagOf(event.node), rest: restOf(kept) }
      const id = typeof kept.messageId === 'string' ? kept.messageId : ''
      if (kept.type === 'REASONING_START') this.#writer.openSpan(id, mark)
      else this.#writer.closeSpan(id, mark)
    } else {
      const printed = agUiLog(event, kept, this.#nodes.tagOf(event.node), this.#writer.document)
      if (printed === undefined) this.#fact(event)
      else this.#writer.write(printed)
    }
  }

  #retell(ids: readonly Json[], same: Json | undefined, rest: JsonObject | undefined): void {
    for (const message of Array.isArray(same) ? same : [])
      if (isWireMessage(message)) this.#snapshot.set(message.id, message)
    const find = (id: Json) =>
      typeof id === 'string' ? (this.#snapshot.get(id) ?? this.#writer.document.message(id)) : undefined
    this.#writer.write({ type: 'MESSAGES_SNAPSHOT', messages: ids.flatMap((id) => find(id) ?? []), ...rest })
    this.#snapshot.clear()
  }

  #fact(event: RunEvent): void {
    const node = 'node' in event ? this.#nodes.tagOf(event.node) : undefined
    this.#writer.write({ ...printFact(event), ...tagged(node), ...restOf(keptOf(event)) })
  }
}

const unannounced: RunStarted = { kind: 'run.started', agent: '', input: { messages: [] } }
const lost: RunFinished = {
  kind: 'run.finished',
  outcome: 'failed',
  error: { code: 'crashed', message: 'the run did not end before the next one began' },
}

function isWireMessage(value: Json | undefined): value is AgUiMessage {
  return isJsonObject(value) && typeof value.id === 'string' && typeof value.role === 'string'
}

function frameOf(event: AgUiEvent): Frame {
  try {
    return { data: JSON.stringify(event) }
  } catch {
    // JSON.stringify throws on deep nesting and on very long text, which must not end a stream (SPEC 3.1).
    return { data: JSON.stringify({ type: 'CUSTOM', name: 'millrace.unprintable', value: event.type }) }
  }
}
