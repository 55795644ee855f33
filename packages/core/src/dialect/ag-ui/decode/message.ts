import type { AdkEvent, AdkFunctionCall } from '../../../event/adk-event.ts'
import type { Draft } from '../../../event/run-event.ts'
import { bareString } from '../../../json/bare-string.ts'
import type { Json } from '../../../json/json.ts'
import { sameJson } from '../../../json/json.ts'
import { Fault } from '../../../schema/fault.ts'
import { data, type FieldReader, oneOf, string } from '../../../schema/readers.ts'
import { contentFromResponse, contentParts, responseFiles, responseFromContent } from '../content.ts'
import { callArguments } from '../message.ts'
import type { AgUiEvent } from '../wire.ts'
import {
  type Calling,
  type DecoderState,
  type FrameContext,
  type Handler,
  type Kept,
  type MessageSpan,
  on,
  type StreamedMessage,
} from './state.ts'

/** The role of ADK content for each AG-UI role of a streamed text. */
export const contentRoles = { assistant: 'model', user: 'user', system: 'system', developer: 'developer' } as const

/** Text, or a list of content parts, as JSON. */
const toolContent: FieldReader<Json> = (value, strict) => {
  const parts = contentParts(value, strict)
  return parts instanceof Fault ? parts : data(value, strict)
}

/** Text, reasoning and tool calls. */
export const messageHandlers: Readonly<Record<string, Handler>> = {
  TEXT_MESSAGE_START: on(
    { messageId: string },
    { role: oneOf(['assistant', 'user', 'system', 'developer']), name: string },
    ({ messageId, role = 'assistant', name }, context, decoder) => {
      if (decoder.texts.has(messageId)) return `text message ${messageId} is already open`
      const voice = role === 'assistant' ? decoder.authorOf(context.tag) : role
      // A message of another role has that role as its author, whatever its name, because views distinguish users by
      // it.
      const open: StreamedMessage = {
        author: role === 'assistant' ? (name ?? voice) : voice,
        role: contentRoles[role],
        ...newMessage(decoder, messageId, context),
      }
      decoder.texts.set(messageId, open)
      const kept = name === undefined || open.author !== voice ? undefined : { name }
      const id = renamed(messageId, open.message)
      partial(decoder, open, '', false, context, kept === undefined ? id : { ...kept, ...id })
      return undefined
    },
  ),
  TEXT_MESSAGE_CONTENT: continueMessage('text'),
  TEXT_MESSAGE_END: endMessage('text'),

  /** A span waits for the message that follows: in almost every stream they belong together and share an id. */
  REASONING_START: on({ messageId: string }, {}, ({ messageId }, context, decoder) => {
    if (decoder.spans.has(messageId)) return `reasoning span ${messageId} is already open`
    const span: MessageSpan = { id: messageId, context, state: 'waiting' }
    decoder.spans.set(messageId, span)
    decoder.held.add(span)
    return undefined
  }),
  REASONING_MESSAGE_START: on({ messageId: string }, { role: string }, ({ messageId }, context, decoder) => {
    if (decoder.reasonings.has(messageId)) return `reasoning message ${messageId} is already open`
    const span = heldSpan(decoder, messageId, context)
    if (span !== undefined) {
      span.state = 'joined'
      decoder.held.delete(span)
    }
    const open: StreamedMessage = {
      author: decoder.authorOf(context.tag),
      role: 'model',
      ...newMessage(decoder, messageId, context),
      span: span?.id ?? null,
    }
    decoder.reasonings.set(messageId, open)
    partial(decoder, open, '', true, context, {
      ...reasoningKept(messageId, open),
      spanRest: span?.context.rest,
    })
    return undefined
  }),
  REASONING_MESSAGE_CONTENT: continueMessage('reasoning'),
  REASONING_MESSAGE_END: endMessage('reasoning'),
  REASONING_END: on({ messageId: string }, {}, ({ messageId }, context, decoder, wire) => {
    const span = decoder.spans.get(messageId)
    if (span === undefined || strays(span.context, context)) return `no reasoning span ${messageId} is open`
    decoder.spans.delete(messageId)
    if (span.state === 'joined') return undefined // the end of its message prints it
    if (span.state === 'waiting') emptySpan(decoder, span)
    const node = context.tag === undefined ? {} : { node: context.tag }
    decoder.emit({ kind: 'log', level: 'debug', message: wire.type, ...node }, context, { type: wire.type, messageId })
    return undefined
  }),
  /** A signature comes after the event that it signs, which the log cannot change: it is an event of its own. */
  REASONING_ENCRYPTED_VALUE: on(
    { subtype: oneOf(['message', 'tool-call']), entityId: string, encryptedValue: string },
    {},
    ({ subtype, entityId, encryptedValue }, context, decoder) => {
      const message = `${entityId}:signature`
      const parts = [{ text: '', thought: true, thoughtSignature: encryptedValue }]
      const author = decoder.authorOf(context.tag)
      const said = { message, id: decoder.eventOf(message), author, role: 'model', parts, tag: context.tag }
      decoder.say(said, context, { signature: { subtype, entityId } })
      return undefined
    },
  ),

  TOOL_CALL_START: on(
    { toolCallId: string, toolCallName: string },
    { parentMessageId: string },
    ({ toolCallId, toolCallName, parentMessageId }, context, decoder) => {
      if (decoder.calls.has(toolCallId)) return `tool call ${toolCallId} is already open`
      const open = calling(decoder, toolCallId, toolCallName, parentMessageId, context)
      decoder.calls.set(toolCallId, open)
      decoder.callNames.set(toolCallId, toolCallName)
      partialCall(decoder, toolCallId, open, '', context)
      return undefined
    },
  ),
  TOOL_CALL_ARGS: on({ toolCallId: string, delta: string }, {}, ({ toolCallId, delta }, context, decoder) => {
    const open = decoder.calls.get(toolCallId)
    if (open === undefined || strays(open, context)) return `no tool call ${toolCallId} is open here`
    open.args += delta
    partialCall(decoder, toolCallId, open, delta, context)
    return undefined
  }),
  TOOL_CALL_END: on({ toolCallId: string }, {}, ({ toolCallId }, context, decoder) => {
    const open = decoder.calls.get(toolCallId)
    if (open === undefined || strays(open, context)) return `no tool call ${toolCallId} is open here`
    decoder.calls.delete(toolCallId)
    const call: AdkFunctionCall = { id: toolCallId, name: open.name, ...callArguments(open.args) }
    const { message, event: id, tag } = open
    const parts = [{ functionCall: call }]
    decoder.say({ message, id, author: decoder.authorOf(tag), role: 'model', parts, tag }, context, callKept(open))
    return undefined
  }),
  TOOL_CALL_RESULT: on(
    { messageId: string, toolCallId: string, content: toolContent },
    {},
    ({ messageId, toolCallId, content }, context, decoder) => {
      const response = responseFromContent(content)
      const files = responseFiles(content)
      const exact = sameJson(contentFromResponse(response, files), content) ? undefined : content
      const name = decoder.callNames.get(toolCallId) ?? ''
      const made = { id: toolCallId, name, response, ...(files.length > 0 ? { parts: files } : {}) }
      const author = decoder.authorOf(context.tag)
      const message = decoder.messageOf(messageId)
      const id = decoder.eventOf(messageId)
      const kept = exact === undefined ? undefined : { content: exact }
      const other = renamed(messageId, message)
      decoder.say(
        { message, id, author, role: 'user', parts: [{ functionResponse: made }], tag: context.tag },
        context,
        kept === undefined ? other : { ...kept, ...other },
      )
      return undefined
    },
    { role: oneOf(['tool']) },
  ),
}

/**
 * The fast path for what nearly every frame is: a bare token of an open message. The general path makes six temporary
 * objects for each, which is half of the time for a long answer. Undefined for any other frame.
 */
export function readToken(wire: AgUiEvent, decoder: DecoderState): Draft | undefined {
  const thinks = wire.type === 'REASONING_MESSAGE_CONTENT'
  if (!thinks && (wire.type !== 'TEXT_MESSAGE_CONTENT' || decoder.held.size > 0)) return undefined
  const { messageId, delta } = wire
  if (typeof messageId !== 'string' || typeof delta !== 'string' || !isBare(wire)) return undefined
  const open = (thinks ? decoder.reasonings : decoder.texts).get(messageId)
  if (open === undefined || open.tag !== undefined) return undefined
  if (decoder.streaming?.open !== open) {
    const head = `{"type":"${wire.type}","messageId":${JSON.stringify(messageId)},"delta":"`
    decoder.streaming = { open, head, thinks }
  }
  return tokenOf(open, delta, thinks, decoder)
}

/** The same without parsing, for the next token of the streaming message, if no other frame came in between. */
export function readNextToken(data: string, decoder: DecoderState): Draft | undefined {
  const { streaming } = decoder
  const delta = streaming === undefined ? undefined : bareString(data, streaming.head)
  if (streaming === undefined || delta === undefined) return undefined
  return tokenOf(streaming.open, delta, streaming.thinks, decoder)
}

function tokenOf(open: StreamedMessage, delta: string, thinks: boolean, decoder: DecoderState): Draft {
  open.deltas.push(delta)
  const { message, author, role } = open
  const event: AdkEvent = {
    id: `${open.event}~${open.partials++}`,
    author,
    invocationId: decoder.run,
    timestamp: 0,
    content: { role, parts: [thinks ? { text: delta, thought: true } : { text: delta }] },
    partial: true,
  }
  return { run: decoder.run, event: { kind: 'agent', message, event } }
}

function continueMessage(kind: 'text' | 'reasoning'): Handler {
  return on({ messageId: string, delta: string }, {}, ({ messageId, delta }, context, decoder) => {
    const open = (kind === 'text' ? decoder.texts : decoder.reasonings).get(messageId)
    if (open === undefined || strays(open, context)) return `no ${kind} message ${messageId} is open here`
    decoder.documentText(messageId, open)
    open.documented = open.deltas.push(delta)
    partial(decoder, open, delta, kind === 'reasoning', context)
    return undefined
  })
}

function endMessage(kind: 'text' | 'reasoning'): Handler {
  return on({ messageId: string }, {}, ({ messageId }, context, decoder) => {
    const streamed = kind === 'text' ? decoder.texts : decoder.reasonings
    const open = streamed.get(messageId)
    if (open === undefined || strays(open, context)) return `no ${kind} message ${messageId} is open here`
    decoder.documentText(messageId, open)
    streamed.delete(messageId)
    decoder.ended(messageId)
    const text = open.deltas.join('')
    const parts = [kind === 'text' ? { text } : { text, thought: true }]
    const kept = kind === 'text' ? renamed(messageId, open.message) : reasoningKept(messageId, open)
    const { message, event: id, author, role, tag } = open
    decoder.say({ message, id, author, role, parts, tag }, context, kept)
    return undefined
  })
}

/** Whether it has no fields but type, id and delta. */
function isBare(wire: AgUiEvent): boolean {
  let size = 0
  for (const _ in wire) if (++size > 3) return false
  return true
}

/** The id on the wire, if the log had to use another. */
function renamed(id: string, message: string): Kept | undefined {
  return id === message ? undefined : { id }
}

/** Whether a continuation names another subagent than its START. It may name none. */
function strays(open: { readonly tag: string | undefined }, { tag }: FrameContext): boolean {
  return tag !== undefined && tag !== open.tag
}

function partial(
  decoder: DecoderState,
  open: StreamedMessage,
  delta: string,
  thought: boolean,
  context: FrameContext,
  kept?: Kept,
): void {
  const id = `${open.event}~${open.partials++}`
  const { message, author, role, tag } = open
  const parts = [thought ? { text: delta, thought } : { text: delta }]
  decoder.say({ message, id, author, role, parts, partial: true, tag }, context, kept)
}

/** The ids on the wire, for the encoder. A span with the id of its message is implied. */
/** What every message has when it opens. */
function newMessage(
  decoder: DecoderState,
  id: string,
  { tag }: FrameContext,
): Omit<StreamedMessage, 'author' | 'role'> {
  return { tag, message: decoder.opened(id), event: decoder.eventOf(id), deltas: [], documented: 0, partials: 0 }
}

function reasoningKept(id: string, { span }: StreamedMessage): Kept {
  return { reasoning: id, ...(span === undefined || span === id ? {} : { span }) }
}

/** The span of a message: the one with its id, else the last one of the same subagent that waits for a message. */
function heldSpan(decoder: DecoderState, id: string, { tag }: FrameContext): MessageSpan | undefined {
  const own = decoder.spans.get(id)
  if (own !== undefined && decoder.held.has(own) && own.context.tag === tag) return own
  return [...decoder.held].findLast((span) => span.context.tag === tag)
}

/** A span without a message so far is recorded, because it was a frame of the wire. */
export function emptySpan(decoder: DecoderState, span: MessageSpan): void {
  const type = 'REASONING_START'
  const node = span.context.tag === undefined ? {} : { node: span.context.tag }
  span.state = 'alone'
  decoder.held.delete(span)
  decoder.emit({ kind: 'log', level: 'debug', message: type, ...node }, span.context, { type, messageId: span.id })
}

/** A call belongs to its parent's message, unless that still streams: there it would cut the text in two. */
function calling(
  decoder: DecoderState,
  id: string,
  name: string,
  parent: string | undefined,
  context: FrameContext,
): Calling {
  const shared = parent !== undefined && !decoder.texts.has(parent)
  const own = decoder.document.message(id) === undefined ? id : `${id}:call`
  const message = shared ? decoder.messageOf(parent) : own
  const printed = message === id ? undefined : message
  return {
    name,
    message,
    event: decoder.eventOf(id),
    parent: printed === parent ? undefined : (parent ?? null),
    tag: context.tag,
    args: '',
    partials: 0,
  }
}

/**
 * Arguments stream as text. ADK has no field for that, so a partial call has `argsDelta`; it does not count (SPEC 1.5).
 */
function partialCall(decoder: DecoderState, id: string, open: Calling, delta: string, context: FrameContext): void {
  const parts = [{ functionCall: { id, name: open.name, argsDelta: delta } }]
  const { message, tag } = open
  const author = decoder.authorOf(tag)
  const said = {
    message,
    id: `${open.event}~${open.partials++}`,
    author,
    role: 'model',
    parts,
    partial: true,
    tag,
  } as const
  decoder.say(said, context, callKept(open))
}

function callKept({ parent }: Calling): Kept | undefined {
  return parent === undefined ? undefined : { parent }
}
