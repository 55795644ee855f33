import { patchState } from '../../event/state-fold.ts'
import { isJsonObject, isObject, type Json, type JsonObject } from '../../json/json.ts'
import { jsonSize } from '../../json/measure.ts'
import { Fault } from '../../schema/fault.ts'
import { type AgUiEvent, type AgUiMessage, type AgUiToolCall, patchOps } from './wire.ts'

/**
 * The messages an AG-UI client holds after the events so far, by the rules of the official `defaultApplyEvents`, but
 * in place: the official one clones every message at every event, which makes a long message quadratic (14 s for
 * 20,000 events). The decoder needs it to find what a MESSAGES_SNAPSHOT changes, the encoder to print one.
 */
export class AgUiDocument {
  /** In order, each message with the results that follow it, so that a result finds its place in O(1). */
  #turns: Turn[] = []
  readonly #turnOf = new Map<AgUiMessage, Turn>()
  readonly #byId = new Map<string, AgUiMessage>()
  readonly #calls = new Map<string, { readonly message: AgUiMessage; readonly call: AgUiToolCall }>()
  /** The most characters that are held, and about how many have come since the last look at all of them. */
  readonly #limit: number
  #added = 0
  #forgotten = 0

  constructor(limit: number = Number.POSITIVE_INFINITY) {
    this.#limit = limit
  }

  /** How many messages were forgotten. */
  get forgotten(): number {
    return this.#forgotten
  }
  /** A list of messages without the forgotten ones. Those were the oldest, so they are before the first known one. */
  remembered<M extends { readonly id: string }>(messages: readonly M[]): readonly M[] {
    if (this.#forgotten === 0) return messages
    return messages.slice(
      Math.max(
        0,
        messages.findIndex(({ id }) => this.#byId.has(id)),
      ),
    )
  }
  /** So much has come that there may be messages to forget. */
  get full(): boolean {
    return this.#added > this.#limit / 4
  }
  /** Forgets the oldest messages, but not those that are open, until the others are within the limit; returns them. */
  forget(isOpen: (message: AgUiMessage) => boolean): readonly AgUiMessage[] {
    this.#added = 0
    let first = this.#turns.length
    for (let size = 0; first > 0; first--) {
      size += sizeOfTurn(this.#turns[first - 1])
      if (size > this.#limit) break
    }
    const gone: AgUiMessage[] = []
    const stay = this.#turns.slice(0, first).filter(({ message, results }) => {
      if (isOpen(message) || results.some(isOpen)) return true
      for (const each of [message, ...results]) {
        gone.push(each)
        if (this.#byId.get(each.id) === each) this.#byId.delete(each.id)
        for (const { id } of each.toolCalls ?? []) if (this.#calls.get(id)?.message === each) this.#calls.delete(id)
      }
      this.#turnOf.delete(message)
      return false
    })
    if (gone.length > 0) this.#turns = [...stay, ...this.#turns.slice(first)]
    this.#forgotten += gone.length
    return gone
  }

  get messages(): readonly AgUiMessage[] {
    return this.#turns.flatMap(({ message, results }) => (results.length === 0 ? message : [message, ...results]))
  }
  message(id: string): AgUiMessage | undefined {
    return this.#byId.get(id)
  }
  /** The tool call and the assistant message that contains it. */
  call(id: string): { readonly message: AgUiMessage; readonly call: AgUiToolCall } | undefined {
    return this.#calls.get(id)
  }

  apply(event: AgUiEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
        this.#opened(event, str(event.role) || 'assistant')
        break
      case 'REASONING_MESSAGE_START':
        this.#opened(event, 'reasoning')
        break
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_END':
      case 'REASONING_MESSAGE_END':
        this.#grown(event)
        break
      case 'TOOL_CALL_START':
        this.#called(event)
        break
      case 'TOOL_CALL_ARGS':
      case 'TOOL_CALL_END':
        this.#argued(event)
        break
      case 'TOOL_CALL_RESULT':
        this.#answered(event)
        break
      case 'REASONING_ENCRYPTED_VALUE':
        this.#encrypted(event)
        break
      case 'ACTIVITY_SNAPSHOT':
        this.#activity(event)
        break
      case 'ACTIVITY_DELTA':
        this.#patched(event)
        break
      case 'MESSAGES_SNAPSHOT':
        this.#replace(this.remembered(messagesIn(event.messages)))
        break
      case 'RUN_STARTED':
        this.#seen(isJsonObject(event.input) ? messagesIn(event.input.messages) : [])
        break
    }
  }

  /** Adds text to an open message. */
  grow(id: string, delta: string): void {
    const message = this.#byId.get(id)
    if (message === undefined || message.role === 'activity') return
    message.content = str(message.content) + delta
    this.#added += delta.length
  }

  /** Replaces the text of a message by that of its aggregate. */
  rewrite(id: string, content: string): void {
    const message = this.#byId.get(id)
    if (message !== undefined) message.content = content
  }

  /** Removes messages. A snapshot cannot delete a client's last reasoning message: that one is emptied instead. */
  remove(ids: ReadonlySet<string>): void {
    const left = this.messages.filter((message) => !ids.has(message.id))
    const thinks = left.some((message) => message.role === 'reasoning')
    const stays = (message: AgUiMessage) => !ids.has(message.id) || (message.role === 'reasoning' && !thinks)
    for (const message of this.messages) if (ids.has(message.id) && stays(message)) message.content = ''
    this.#index(this.messages.filter(stays))
  }

  #opened(event: AgUiEvent, role: string): void {
    const id = str(event.messageId)
    const known = this.#byId.get(id)
    if (known !== undefined) {
      if (known.role !== 'activity') annotate(known, event)
      return
    }
    this.#add({ id, role, content: '', ...picked(event, 'name'), ...picked(event, 'subagentRunId') }, event)
  }

  #grown(event: AgUiEvent): void {
    const message = this.#byId.get(str(event.messageId))
    if (message === undefined || message.role === 'activity') return
    if (typeof event.delta === 'string') this.grow(message.id, event.delta)
    else if (typeof message.content === 'string') message.content = compact(message.content)
    annotate(message, event)
  }

  #called(event: AgUiEvent): void {
    const id = str(event.toolCallId)
    const name = str(event.toolCallName)
    const known = this.#calls.get(id)
    if (known !== undefined) {
      known.call.function.name = name
      annotate(known.call, event)
      return
    }
    const call: AgUiToolCall = { id, type: 'function', function: { name, arguments: '' } }
    annotate(call, event)
    const message = this.#caller(event, id)
    message.toolCalls ??= []
    message.toolCalls.push(call)
    this.#calls.set(id, { message, call })
  }

  /** The assistant message of a call: its parent, or a new one. */
  #caller(event: AgUiEvent, id: string): AgUiMessage {
    const parent = event.parentMessageId
    const known = typeof parent === 'string' ? this.#byId.get(parent) : undefined
    if (known?.role === 'assistant') return known
    const made: AgUiMessage = {
      id: typeof parent === 'string' && known === undefined ? parent : id,
      role: 'assistant',
      ...picked(event, 'subagentRunId'),
    }
    this.#append(made)
    this.#byId.set(made.id, made)
    return made
  }

  #argued(event: AgUiEvent): void {
    const call = this.#calls.get(str(event.toolCallId))?.call
    if (call === undefined) return
    if (typeof event.delta === 'string') {
      call.function.arguments += event.delta
      this.#added += event.delta.length
    }
    annotate(call, event)
  }

  /** A result comes right after the message with its call, behind the results already there. */
  #answered(event: AgUiEvent): void {
    const id = str(event.messageId)
    const made: AgUiMessage = { id, role: 'tool', content: event.content ?? '', toolCallId: str(event.toolCallId) }
    Object.assign(made, picked(event, 'subagentRunId'))
    annotate(made, event)
    const caller = this.#calls.get(str(event.toolCallId))?.message
    const turn = caller === undefined ? undefined : this.#turnOf.get(caller)
    if (turn === undefined) this.#append(made)
    else {
      turn.results.push(made)
      this.#added += sizeOf(made)
    }
    this.#byId.set(id, made)
  }

  #encrypted(event: AgUiEvent): void {
    const id = str(event.entityId)
    const entity = event.subtype === 'tool-call' ? this.#calls.get(id)?.call : this.#byId.get(id)
    if (entity === undefined || ('role' in entity && entity.role === 'activity')) return
    entity.encryptedValue = str(event.encryptedValue)
  }

  #activity(event: AgUiEvent): void {
    const id = str(event.messageId)
    const known = this.#byId.get(id)
    if (known === undefined) {
      const { content = {} } = event
      this.#add(
        { id, role: 'activity', activityType: str(event.activityType), content, ...picked(event, 'subagentRunId') },
        event,
      )
    } else if (event.replace !== false) {
      known.role = 'activity'
      known.activityType = str(event.activityType)
      known.content = event.content ?? {}
      if (typeof event.subagentRunId === 'string') known.subagentRunId = event.subagentRunId
      else delete known.subagentRunId
      annotate(known, event)
    }
  }

  #patched(event: AgUiEvent): void {
    const known = this.#byId.get(str(event.messageId))
    if (known?.role !== 'activity' || !isJsonObject(known.content)) return
    annotate(known, event)
    const patch = patchOps(event.patch, false)
    if (!(patch instanceof Fault)) known.content = patchState(known.content, patch)
    known.activityType = str(event.activityType)
  }

  /** A snapshot replaces by id and deletes what it omits, except for roles that it does not track at all. */
  #replace(snapshot: readonly AgUiMessage[]): void {
    const by = new Map(snapshot.map((message) => [message.id, message]))
    const tracked = rolesIn(snapshot)
    const kept = this.messages
      .filter((message) => by.has(message.id) || survives(message, tracked))
      .map((message) => by.get(message.id) ?? message)
    const ids = new Set(kept.map((message) => message.id))
    this.#index([...kept, ...snapshot.filter((message) => !ids.has(message.id))])
  }

  #seen(messages: readonly AgUiMessage[]): void {
    const unseen = this.remembered(messages).filter((message) => !this.#byId.has(message.id))
    for (const message of unseen) this.#place(message)
  }

  #add(message: AgUiMessage, event: AgUiEvent): void {
    annotate(message, event)
    this.#append(message)
    this.#byId.set(message.id, message)
  }

  #index(messages: readonly AgUiMessage[]): void {
    this.#turns = []
    for (const index of [this.#turnOf, this.#byId, this.#calls]) index.clear()
    for (const message of messages) this.#place(message)
  }

  #place(message: AgUiMessage): void {
    this.#append(message)
    if (!this.#byId.has(message.id)) this.#byId.set(message.id, message)
    for (const call of message.toolCalls ?? []) this.#calls.set(call.id, { message, call })
  }

  #append(message: AgUiMessage): void {
    this.#added += sizeOf(message)
    const last = this.#turns.at(-1)
    if (message.role === 'tool' && last !== undefined) {
      last.results.push(message)
      return
    }
    const turn: Turn = { message, results: [] }
    this.#turns.push(turn)
    this.#turnOf.set(message, turn)
  }
}

interface Turn {
  readonly message: AgUiMessage
  readonly results: AgUiMessage[]
}

/**
 * The same text as one string of its own. A text that was gathered from deltas is kept by V8 as those deltas, and each
 * of them may keep the whole chunk of the stream that it was cut from.
 */
function compact(text: string): string {
  return ` ${text}`.slice(1)
}

/** Characters that a message or a call takes beside its text: its ids and names, and its places in the indexes. */
const overhead = 256

function sizeOfTurn(turn: Turn | undefined): number {
  return turn === undefined ? 0 : turn.results.reduce((size, each) => size + sizeOf(each), sizeOf(turn.message))
}

function sizeOf({ content = '', toolCalls = [] }: AgUiMessage): number {
  const calls = toolCalls.reduce((size, call) => size + overhead + str(call.function.arguments).length, 0)
  return overhead + calls + (typeof content === 'string' ? content.length : jsonSize(content))
}

/** The roles that a snapshot contains. */
export function rolesIn(snapshot: readonly { readonly role: string }[]): ReadonlySet<string> {
  return new Set(snapshot.map(({ role }) => role))
}

/** A snapshot without any activity or reasoning comes from a peer that does not track them: clients keep their own. */
export function survives({ role }: AgUiMessage, tracked: ReadonlySet<string>): boolean {
  return (role === 'activity' || role === 'reasoning') && !tracked.has(role)
}

/** Metadata merges into what the event builds, key by key. */
function annotate(target: { metadata?: JsonObject }, event: AgUiEvent): void {
  if (isJsonObject(event.metadata)) target.metadata = { ...target.metadata, ...event.metadata }
}

function picked<K extends string>(event: AgUiEvent, key: K): { readonly [P in K]?: string } {
  const value = event[key]
  return (typeof value === 'string' ? { [key]: value } : {}) as { readonly [P in K]?: string }
}

/** Copies, because messages are changed in place here and the input belongs to the caller. */
function messagesIn(value: Json | undefined): readonly AgUiMessage[] {
  if (!Array.isArray(value)) return []
  return value.filter(isMessage).map((message) => ({
    ...message,
    ...(message.toolCalls === undefined
      ? {}
      : { toolCalls: message.toolCalls.map((call) => ({ ...call, function: { ...call.function } })) }),
  }))
}

/** Messages were checked when they were read, but a log may have lost fields since. */
function isMessage(value: unknown): value is AgUiMessage {
  if (!isObject(value) || typeof value.id !== 'string' || typeof value.role !== 'string') return false
  const calls = value.toolCalls
  return (
    calls === undefined || (Array.isArray(calls) && calls.every((call) => isObject(call) && isObject(call.function)))
  )
}

function str(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
