import type { JsonObject } from '../../../json/json.ts'
import { AgUiDocument } from '../document.ts'
import type { AgUiEvent } from '../wire.ts'

/** The subagent that an event belongs to, and the kept fields of its frame. */
export interface WrittenMark {
  readonly tag?: string | undefined
  readonly rest?: JsonObject | undefined
}

/**
 * Writes events in an order that the official `verifyEvents` accepts, whatever its caller asks for: nothing is opened
 * twice, continued or closed without being open, or owned by two subagents. It knows what is open, so that all of it
 * can be closed before a run ends, or opened again for a reader that joins.
 */
export class AgUiWriter {
  readonly document: AgUiDocument
  #out: AgUiEvent[] = []
  /** Everything open, with the event that opened it. */
  readonly #texts = new Map<string, AgUiEvent>()
  readonly #reasonings = new Map<string, AgUiEvent>()
  readonly #spans = new Map<string, AgUiEvent>()
  readonly #calls = new Map<string, AgUiEvent>()
  /** The owner of each id for the rest of the run: the first to open it, unless a snapshot changes that. */
  readonly #owners = new Map<string, string | undefined>()
  readonly #nodes = new Map<string, { readonly start: AgUiEvent; readonly end: AgUiEvent }>()

  /** `history`: how many characters of the conversation are held. */
  constructor(history: number | undefined) {
    this.document = new AgUiDocument(history)
  }

  /** Forgets the oldest messages, except those that are open. */
  forget(): void {
    this.document.forget(
      ({ id, toolCalls = [] }) =>
        this.#texts.has(id) || this.#reasonings.has(id) || toolCalls.some((call) => this.#calls.has(call.id)),
    )
    for (const id of this.#owners.keys())
      if (this.document.message(id) === undefined && !this.#spans.has(id)) this.#owners.delete(id)
  }

  write(event: AgUiEvent): void {
    this.document.apply(event)
    if (event.type === 'MESSAGES_SNAPSHOT') {
      for (const { id, subagentRunId } of this.document.messages) this.#owners.set(id, subagentRunId)
    }
    this.#out.push(event)
  }
  /** Prints one event, and applies another to the document: a client knows what it sent itself. */
  writeAs(printed: AgUiEvent, meant: AgUiEvent): void {
    this.document.apply(meant)
    this.#out.push(printed)
  }
  /** The events written since the last call. */
  take(): readonly AgUiEvent[] {
    const made = this.#out
    this.#out = []
    return made
  }

  openText(id: string, role: string, name: string | undefined, mark: WrittenMark): void {
    if (this.#texts.has(id)) return
    const tag = this.#owner(id, mark.tag)
    const type = 'TEXT_MESSAGE_START'
    const start = name === undefined ? { type, messageId: id, role } : { type, messageId: id, role, name }
    this.#open(this.#texts, id, marked(start, tag, mark.rest))
  }
  appendText(id: string, delta: string, mark: WrittenMark): void {
    if (delta === '') return // 0.x clients refuse an empty delta
    const tag = this.#owner(id, mark.tag)
    this.write(marked({ type: 'TEXT_MESSAGE_CONTENT', messageId: id, delta }, tag, mark.rest))
  }
  /** What a printed delta of this text has before and after the delta itself. */
  deltaText(id: string, tag: string | undefined): { readonly head: string; readonly tail: string } {
    const owner = this.#owner(id, tag)
    return {
      head: `{"type":"TEXT_MESSAGE_CONTENT","messageId":${JSON.stringify(id)},"delta":`,
      tail: owner === undefined ? '}' : `,"subagentRunId":${JSON.stringify(owner)}}`,
    }
  }
  closeText(id: string, mark: WrittenMark): void {
    if (!this.#texts.delete(id)) return
    this.write(marked({ type: 'TEXT_MESSAGE_END', messageId: id }, this.#owner(id, mark.tag), mark.rest))
  }
  isTextOpen(id: string): boolean {
    return this.#texts.has(id)
  }

  /** Opens a reasoning message, and the span around it unless the message is without one. */
  openReasoning(id: string, span: string | null, mark: WrittenMark, spanRest: JsonObject | undefined): void {
    if (this.#reasonings.has(id)) return
    const tag = this.#owner(id, mark.tag)
    if (span !== null) this.openSpan(span, { tag, rest: spanRest })
    const type = 'REASONING_MESSAGE_START'
    this.#open(this.#reasonings, id, { type, messageId: id, role: 'reasoning', ...tagged(tag), ...mark.rest })
  }
  appendReasoning(id: string, delta: string, mark: WrittenMark): void {
    if (delta === '') return
    const tag = this.#owner(id, mark.tag)
    this.write({ type: 'REASONING_MESSAGE_CONTENT', messageId: id, delta, ...tagged(tag), ...mark.rest })
  }
  closeReasoning(id: string, span: string | null, mark: WrittenMark): void {
    if (this.#reasonings.size === 0 || !this.#reasonings.delete(id)) return
    const tag = this.#owner(id, mark.tag)
    this.write({ type: 'REASONING_MESSAGE_END', messageId: id, ...tagged(tag), ...mark.rest })
    if (span !== null) this.closeSpan(span, { tag })
  }
  isReasoningOpen(id: string): boolean {
    return this.#reasonings.has(id)
  }
  openSpan(id: string, { tag: wanted, rest }: WrittenMark): void {
    if (this.#spans.has(id)) return
    const tag = this.#owner(id, wanted)
    this.#open(this.#spans, id, { type: 'REASONING_START', messageId: id, ...tagged(tag), ...rest })
  }
  closeSpan(id: string, { tag, rest }: WrittenMark): void {
    if (!this.#spans.delete(id)) return
    this.write({ type: 'REASONING_END', messageId: id, ...tagged(this.#owner(id, tag)), ...rest })
  }

  openCall(id: string, name: string, wanted: string | undefined, mark: WrittenMark): void {
    if (this.#calls.has(id)) return
    const parent = this.#parent(id, wanted, mark.tag)
    const type = 'TOOL_CALL_START'
    const start: AgUiEvent =
      parent === undefined
        ? { type, toolCallId: id, toolCallName: name }
        : { type, toolCallId: id, toolCallName: name, parentMessageId: parent }
    this.#open(this.#calls, id, marked(start, mark.tag, mark.rest))
  }
  appendCall(id: string, delta: string, mark: WrittenMark): void {
    const start = this.#calls.get(id)
    if (delta === '' || start === undefined) return
    this.write(marked({ type: 'TOOL_CALL_ARGS', toolCallId: id, delta }, callerTag(start, mark), mark.rest))
  }
  closeCall(id: string, mark: WrittenMark): void {
    const start = this.#calls.get(id)
    if (start === undefined) return
    this.#calls.delete(id)
    this.write(marked({ type: 'TOOL_CALL_END', toolCallId: id }, callerTag(start, mark), mark.rest))
  }
  isCallOpen(id: string): boolean {
    return this.#calls.has(id)
  }

  /** Opens a step or subagent under a key of the caller; `end` closes it if the caller does not. */
  openNode(key: string, start: AgUiEvent, end: AgUiEvent): void {
    this.#nodes.set(key, { start, end })
    this.write(start)
  }
  closeNode(key: string, end?: AgUiEvent): void {
    const node = this.#nodes.get(key)
    if (node === undefined) return
    this.#nodes.delete(key)
    this.write(end ?? node.end)
  }
  isNodeOpen(key: string): boolean {
    return this.#nodes.has(key)
  }

  /** Closes everything: messages and calls, then the nodes from the inside out. */
  closeAll(endOf: (key: string, end: AgUiEvent) => AgUiEvent = (_, end) => end): void {
    for (const [id, { subagentRunId: tag }] of this.#texts) this.closeText(id, markOf(tag))
    for (const [id, { subagentRunId: tag }] of this.#reasonings) this.closeReasoning(id, null, markOf(tag))
    for (const [id, { subagentRunId: tag }] of this.#spans) this.closeSpan(id, markOf(tag))
    for (const [id, { subagentRunId: tag }] of this.#calls) this.closeCall(id, markOf(tag))
    for (const [key, { end }] of [...this.#nodes].reverse()) this.closeNode(key, endOf(key, end))
  }
  /** The events that open everything open again, for a reader that joins. */
  reopened(): readonly AgUiEvent[] {
    const nodes = [...this.#nodes.values()].map(({ start }) => this.#orphaned(start))
    const said = [this.#spans, this.#reasonings, this.#texts].flatMap((open) => [...open.values()])
    return [...nodes, ...said.map((start) => this.#disowned(start)), ...this.#calls.values()]
  }
  /** A reader that joins does not know a parent that has ended since, so it is left out. */
  #orphaned(start: AgUiEvent): AgUiEvent {
    const { parentSubagentRunId: parent, ...rest } = start
    return typeof parent !== 'string' || this.#nodes.has(parent) ? start : { ...rest, type: start.type }
  }
  /** A message that a snapshot gave to another owner since is opened without an owner. */
  #disowned(start: AgUiEvent): AgUiEvent {
    const { subagentRunId: tag, messageId: id, ...rest } = start
    if (typeof tag !== 'string' || typeof id !== 'string' || this.#owner(id, tag) === tag) return start
    return { ...rest, messageId: id, type: start.type }
  }
  /** Removes messages. Their owners stay known for the rest of the run. */
  remove(ids: ReadonlySet<string>): void {
    for (const id of ids) this.#own(id, this.document.message(id)?.subagentRunId)
    this.document.remove(ids)
  }

  /** A new run: forgets what the last one left open. */
  reset(): void {
    this.#owners.clear()
    for (const open of [this.#texts, this.#reasonings, this.#spans, this.#calls, this.#nodes]) open.clear()
  }

  #open(open: Map<string, AgUiEvent>, id: string, start: AgUiEvent): void {
    open.set(id, start)
    if (open !== this.#calls) this.#own(id, typeof start.subagentRunId === 'string' ? start.subagentRunId : undefined)
    this.write(start)
  }
  #own(id: string, tag: string | undefined): void {
    if (!this.#owners.has(id)) this.#owners.set(id, tag)
  }

  /**
   * A call is part of its parent's message, so it must have the same owner; otherwise it is alone in a message with the
   * id of the call, or with a new id if that one is taken.
   */
  #parent(id: string, wanted: string | undefined, tag: string | undefined): string | undefined {
    const message = wanted === undefined ? undefined : this.document.message(wanted)
    const isCaller = message === undefined || message.role === 'assistant'
    if (wanted !== undefined && isCaller && this.#owner(wanted, tag) === tag) return wanted
    if (this.document.message(id) === undefined) return undefined
    let own = `${id}:call`
    while (this.document.message(own) !== undefined) own += ':call'
    return own
  }

  /** An id with another owner is continued without an owner, because an absent tag never contradicts. */
  #owner(id: string, tag: string | undefined): string | undefined {
    if (this.#owners.has(id)) return this.#owners.get(id) === tag ? tag : undefined
    const known = this.document.message(id)
    return known === undefined || known.subagentRunId === tag ? tag : undefined
  }
}

export function tagged(tag: string | undefined): { readonly subagentRunId?: string } {
  return tag === undefined ? {} : { subagentRunId: tag }
}

/** The event with its subagent and the kept fields. Nearly every event has neither, and a spread is slow. */
export function marked(event: AgUiEvent, tag: string | undefined, rest: JsonObject | undefined): AgUiEvent {
  return tag === undefined && rest === undefined ? event : { ...event, ...tagged(tag), ...rest }
}

function callerTag(start: AgUiEvent, { tag }: WrittenMark): string | undefined {
  return start.subagentRunId === tag ? tag : undefined
}

function markOf(tag: unknown): WrittenMark {
  return typeof tag === 'string' ? { tag } : {}
}
