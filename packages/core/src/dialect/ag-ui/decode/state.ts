import type { AdkEvent, AdkPart } from '../../../event/adk-event.ts'
import type { Draft, RunEvent } from '../../../event/run-event.ts'
import type { Json, JsonObject } from '../../../json/json.ts'
import { Fault } from '../../../schema/fault.ts'
import { type FieldReaders, type Fields, fields } from '../../../schema/fields.ts'
import { dataObject, string, time } from '../../../schema/readers.ts'
import type { SentMessage } from '../../dialect.ts'
import { keepFor } from '../../kept-fields.ts'
import { AgUiDocument } from '../document.ts'
import type { ToolNames } from '../message.ts'
import type { AgUiEvent, AgUiMessage } from '../wire.ts'

/** What a frame carries beside the fields of its type: its subagent, its time, and fields without a canonical place. */
export interface FrameContext {
  readonly tag: string | undefined
  readonly at: number | undefined
  readonly rest: JsonObject | undefined
}

/** A text or reasoning message that is streaming. */
export interface StreamedMessage {
  readonly author: string
  readonly role: string
  readonly tag: string | undefined
  readonly message: string
  /** The id of the aggregate's ADK event; partials are numbered after it. */
  readonly event: string
  /**
   * One for each token: a string that grows token by token is kept by V8 in as many pieces, at four times the memory.
   */
  readonly deltas: string[]
  /** How many of them the document contains. */
  documented: number
  partials: number
  /** Reasoning only: the span it opened in; null for none. */
  readonly span?: string | null
}
export interface Calling {
  readonly name: string
  readonly message: string
  readonly event: string
  readonly parent: string | null | undefined
  readonly tag: string | undefined
  args: string
  partials: number
}
export interface MessageSpan {
  readonly id: string
  readonly context: FrameContext
  /**
   * `waiting` until something follows; then printed with its message (`joined`), or by an event of its own (`alone`).
   */
  state: 'waiting' | 'joined' | 'alone'
}

/** For the encoder alone: see `keepFor`. */
export type Kept = Readonly<Record<string, Json | undefined>>

/** The content of one ADK event of a decoded frame. */
export interface StreamedText {
  readonly message: string
  readonly id: string
  readonly author: string
  readonly role: string
  readonly parts: readonly AdkPart[]
  readonly partial?: true
  readonly tag: string | undefined
}

/** The state of one decoder: what is open on the wire, and the drafts of the frame at hand. */
export class DecoderState {
  run: string
  session: string | undefined
  readonly agent: string
  drafts: Draft[] = []
  /** The message whose tokens are arriving, and how each of its frames begins on the wire. */
  streaming: { readonly open: StreamedMessage; readonly head: string; readonly thinks: boolean } | undefined
  /** A run has started and has not ended. */
  active = false
  readonly document: AgUiDocument
  readonly texts = new Map<string, StreamedMessage>()
  readonly reasonings = new Map<string, StreamedMessage>()
  readonly calls = new Map<string, Calling>()
  /** Reasoning spans by id: agents that think side by side have one each. */
  readonly spans = new Map<string, MessageSpan>()
  /** Those that wait for their message. */
  readonly held = new Set<MessageSpan>()
  readonly callNames: ToolNames = new Map()
  /** Open steps by owner and name, and how often each has begun, which gives node ids to a wire without them. */
  readonly steps = new Map<string, string>()
  readonly stepCounts = new Map<string, number>()
  /** Subagents of this run: id to name; open ones also in `subagents`. */
  readonly agents = new Map<string, string>()
  readonly subagents = new Set<string>()
  /** Messages that are opened again, or that a snapshot changed, have another id in the log from then on. */
  readonly aliases = new Map<string, string>()

  /** The messages that the peer was sent: by id, and results of tools also by their call. */
  readonly #sent = new Map<string, AgUiMessage>()
  readonly #results = new Map<string, AgUiMessage>()

  constructor(run: string, agent: string, history: number | undefined, sent: readonly SentMessage[] = []) {
    this.run = run
    this.agent = agent
    this.document = new AgUiDocument(history)
    for (const message of sent as readonly AgUiMessage[]) {
      this.#sent.set(message.id, message)
      if (message.role === 'tool') this.#results.set(message.toolCallId ?? '', message)
    }
  }

  /** The message that the peer was sent as this one: peers identify a result by its call, and give it an id of their own. */
  sentAs({ id, role, toolCallId }: AgUiMessage): AgUiMessage | undefined {
    return this.#sent.get(id) ?? (role === 'tool' ? this.#results.get(toolCallId ?? '') : undefined)
  }

  /** Forgets the oldest messages where there are too many, and what is known of their ids. */
  forget(): void {
    const isOpen = ({ id, toolCalls = [] }: AgUiMessage): boolean =>
      this.texts.has(id) || this.reasonings.has(id) || toolCalls.some((call) => this.calls.has(call.id))
    for (const { id, toolCalls = [] } of this.document.forget(isOpen)) {
      for (const each of [id, ...toolCalls.map((call) => call.id)]) {
        for (const index of [this.aliases, this.#ended, this.callNames, this.#times]) index.delete(each)
        this.#times.delete(`${each}:again`)
        this.#times.delete(`${each}:signature`)
      }
    }
  }

  /** The author of a message that names none; where the agent has no name either, its role. */
  authorOf(tag: string | undefined): string {
    const own = this.agent === '' ? 'assistant' : this.agent
    return (tag === undefined ? undefined : this.agents.get(tag)) ?? own
  }
  messageOf(id: string): string {
    return this.aliases.get(id) ?? id
  }
  /**
   * The log id of the message that a START opens. The log has one aggregate a message, so a second START gets a new id.
   */
  opened(id: string): string {
    if (this.#ended.has(id)) this.aliases.set(id, this.eventOf(`${id}:again`))
    return this.messageOf(id)
  }
  ended(id: string): void {
    this.#ended.add(id)
  }
  readonly #ended = new Set<string>()
  /** An id for an ADK event: that of its message or call, with a number when that is opened again. */
  eventOf(id: string): string {
    const times = (this.#times.get(id) ?? 0) + 1
    this.#times.set(id, times)
    return times === 1 ? id : `${id}:${times}`
  }
  readonly #times = new Map<string, number>()

  /** Brings the document up to date. Tokens reach it only when it is needed. */
  documentText(id: string, open: StreamedMessage): void {
    if (open.documented < open.deltas.length) this.document.grow(id, open.deltas.slice(open.documented).join(''))
    open.documented = open.deltas.length
  }
  documentAll(): void {
    for (const streaming of [this.texts, this.reasonings])
      for (const [id, open] of streaming) this.documentText(id, open)
  }

  emit(event: RunEvent, context: FrameContext, kept?: Kept): void {
    const { rest } = context
    const notes = rest === undefined ? kept : { ...kept, rest }
    const extra = notes === undefined ? undefined : keepFor('ag-ui', notes).extra
    const made: RunEvent = extra === undefined ? event : { ...event, extra }
    this.drafts.push(
      context.at === undefined ? { run: this.run, event: made } : { run: this.run, event: made, at: context.at },
    )
  }

  say(said: StreamedText, context: FrameContext, kept?: Kept): void {
    const { message, id, author, role, parts, partial, tag } = said
    const { run: invocationId } = this
    const timestamp = context.at ?? 0
    const content = { role, parts }
    if (tag === undefined && context.rest === undefined) {
      // Nearly every event has neither a subagent nor metadata: it is made without the spreads below.
      const event: AdkEvent =
        partial === true
          ? { id, author, invocationId, timestamp, content, partial }
          : { id, author, invocationId, timestamp, content }
      this.emit({ kind: 'agent', message, event }, context, kept)
      return
    }
    const task = taskOf(context)
    this.emit(
      {
        kind: 'agent',
        message,
        event: {
          id,
          author,
          invocationId,
          timestamp,
          content,
          ...(partial === true ? { partial } : {}),
          ...(tag === undefined ? {} : { branch: tag }),
        },
        ...(tag === undefined ? {} : { node: tag }),
        ...(task === undefined ? {} : { task }),
      },
      context,
      kept,
    )
  }
}

/** The task of a message, which Millrace's encoder puts into the metadata. */
function taskOf({ rest }: FrameContext): string | undefined {
  const metadata = rest?.metadata
  const own =
    typeof metadata === 'object' && metadata !== null && 'millrace' in metadata ? metadata.millrace : undefined
  const task = typeof own === 'object' && own !== null && 'task' in own ? own.task : undefined
  return typeof task === 'string' ? task : undefined
}

/** Reads one type of event into drafts, or returns why it could not. */
export type Handler = (wire: AgUiEvent, decoder: DecoderState) => string | undefined

/**
 * A handler whose fields are checked and typed before it runs. Other fields are kept in `rest`; `checked` has readers
 * for those that must have a certain type if they are present.
 */
export function on<R extends FieldReaders, O extends FieldReaders>(
  required: R,
  optional: O,
  handle: (read: Fields<R, O>, context: FrameContext, decoder: DecoderState, wire: AgUiEvent) => string | undefined,
  checked: FieldReaders = {},
): Handler {
  const own = fields(required, optional)
  const usual: ReadonlySet<string> = new Set(['type', ...Object.keys(required), ...Object.keys(optional)])
  const named = new Set([...usual, 'subagentRunId'])
  const beside = fields({}, { ...base, ...checked })
  return (wire, decoder) => {
    const read = own(wire, false)
    if (read instanceof Fault) return read.describe()
    if (hasOnly(wire, usual)) return handle(read, ignored, decoder, wire)
    const rest = beside(wire, false)
    if (rest instanceof Fault) return rest.describe()
    return handle(read, contextOf(wire, named), decoder, wire)
  }
}
export const ignored: FrameContext = { tag: undefined, at: undefined, rest: undefined }

function hasOnly(wire: AgUiEvent, usual: ReadonlySet<string>): boolean {
  for (const key in wire) if (!usual.has(key)) return false
  return true
}

/** What every event may carry. */
const base = { subagentRunId: string, timestamp: time, metadata: dataObject }

function contextOf(wire: AgUiEvent, named: ReadonlySet<string>): FrameContext {
  const { subagentRunId: tag, timestamp } = wire
  return {
    tag: typeof tag === 'string' ? tag : undefined,
    at: typeof timestamp === 'number' ? timestamp : undefined,
    rest: restOf(wire, named),
  }
}

/** 1.0 demands a whole number for the timestamp; 0.x peers may send fractions. */
function restOf(wire: AgUiEvent, named: ReadonlySet<string>): JsonObject | undefined {
  let rest: [string, Json][] | undefined
  for (const key in wire) {
    const value = wire[key]
    if (value === undefined || value === null || named.has(key)) continue
    rest ??= []
    rest.push([key, key === 'timestamp' && typeof value === 'number' ? Math.round(value) : value])
  }
  return rest === undefined ? undefined : Object.fromEntries(rest)
}
