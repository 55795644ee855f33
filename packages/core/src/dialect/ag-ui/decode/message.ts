import type { AdkEvent, AdkFunctionCall } from '../../../event/adk-event.ts'
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

/** Text, reasoning and tool calls: what is said and done. */
export const messageHandlers: Readonly<Record<string, Handler>> = {
  TEXT_MESSAGE_START: on(
    { messageId: string },
    { role: oneOf(['assistant', 'user', 'system', 'developer']), name: string },
    ({ messageId, role = 'assistant', name }, aside, reading) => {
      if (reading.texts.has(messageId)) return `text message ${messageId} is already open`
      const voice = role === 'assistant' ? reading.voice(aside.tag) : role
      // Who speaks to the agent is its user, by whatever name: views tell the two sides apart by that.
      const open: StreamedMessage = {
        author: role === 'assistant' ? (name ?? voice) : voice,
        role: contentRoles[role],
        tag: aside.tag,
        message: reading.opened(messageId),
        event: reading.eventOf(messageId),
        deltas: [],
        told: 0,
        partials: 0,
      }
      reading.texts.set(messageId, open)
      partial(reading, open, '', false, aside, {
        ...(open.author === voice ? { name } : {}),
        ...renamed(messageId, open.message),
      })
      return undefined
    },
  ),
  TEXT_MESSAGE_CONTENT: on({ messageId: string, delta: string }, {}, ({ messageId, delta }, aside, reading) => {
    const open = reading.texts.get(messageId)
    if (open === undefined || strays(open, aside)) return `no text message ${messageId} is open here`
    reading.tell(messageId, open)
    open.told = open.deltas.push(delta)
    partial(reading, open, delta, false, aside)
    return undefined
  }),
  TEXT_MESSAGE_END: on({ messageId: string }, {}, ({ messageId }, aside, reading) => {
    const open = reading.texts.get(messageId)
    if (open === undefined || strays(open, aside)) return `no text message ${messageId} is open here`
    reading.tell(messageId, open)
    reading.texts.delete(messageId)
    reading.ended(messageId)
    const parts = [{ text: open.deltas.join('') }]
    reading.say({ ...open, id: open.event, parts }, aside, renamed(messageId, open.message))
    return undefined
  }),

  /** The span is told by the message that follows: in almost every stream they are one and share an id. */
  REASONING_START: on({ messageId: string }, {}, ({ messageId }, aside, reading) => {
    if (reading.spans.has(messageId)) return `reasoning span ${messageId} is already open`
    const span: MessageSpan = { id: messageId, aside, state: 'held' }
    reading.spans.set(messageId, span)
    reading.held.add(span)
    return undefined
  }),
  REASONING_MESSAGE_START: on({ messageId: string }, { role: string }, ({ messageId }, aside, reading) => {
    if (reading.reasonings.has(messageId)) return `reasoning message ${messageId} is already open`
    const span = heldSpan(reading, messageId, aside)
    if (span !== undefined) {
      span.state = 'told'
      reading.held.delete(span)
    }
    const open: StreamedMessage = {
      author: reading.voice(aside.tag),
      role: 'model',
      tag: aside.tag,
      message: reading.opened(messageId),
      event: reading.eventOf(messageId),
      deltas: [],
      told: 0,
      partials: 0,
      span: span?.id ?? null,
    }
    reading.reasonings.set(messageId, open)
    partial(reading, open, '', true, aside, {
      ...reasoningKept(messageId, open),
      spanRest: span?.aside.rest,
    })
    return undefined
  }),
  REASONING_MESSAGE_CONTENT: on({ messageId: string, delta: string }, {}, ({ messageId, delta }, aside, reading) => {
    const open = reading.reasonings.get(messageId)
    if (open === undefined || strays(open, aside)) return `no reasoning message ${messageId} is open here`
    reading.tell(messageId, open)
    open.told = open.deltas.push(delta)
    partial(reading, open, delta, true, aside)
    return undefined
  }),
  REASONING_MESSAGE_END: on({ messageId: string }, {}, ({ messageId }, aside, reading) => {
    const open = reading.reasonings.get(messageId)
    if (open === undefined || strays(open, aside)) return `no reasoning message ${messageId} is open here`
    reading.tell(messageId, open)
    reading.reasonings.delete(messageId)
    reading.ended(messageId)
    const parts = [{ text: open.deltas.join(''), thought: true }]
    reading.say({ ...open, id: open.event, parts }, aside, reasoningKept(messageId, open))
    return undefined
  }),
  REASONING_END: on({ messageId: string }, {}, ({ messageId }, aside, reading, wire) => {
    const span = reading.spans.get(messageId)
    if (span === undefined || strays(span.aside, aside)) return `no reasoning span ${messageId} is open`
    reading.spans.delete(messageId)
    if (span.state === 'told') return undefined // the message's own end stands for it
    if (span.state === 'held') emptySpan(reading, span)
    const node = aside.tag === undefined ? {} : { node: aside.tag }
    reading.emit({ kind: 'log', level: 'debug', message: wire.type, ...node }, aside, { type: wire.type, messageId })
    return undefined
  }),
  /** A signature comes after what it seals, which the log cannot change any more: it is an event of its own. */
  REASONING_ENCRYPTED_VALUE: on(
    { subtype: oneOf(['message', 'tool-call']), entityId: string, encryptedValue: string },
    {},
    ({ subtype, entityId, encryptedValue }, aside, reading) => {
      const message = `${entityId}:signature`
      const parts = [{ text: '', thought: true, thoughtSignature: encryptedValue }]
      const author = reading.voice(aside.tag)
      const said = { message, id: reading.eventOf(message), author, role: 'model', parts, tag: aside.tag }
      reading.say(said, aside, { signature: { subtype, entityId } })
      return undefined
    },
  ),

  TOOL_CALL_START: on(
    { toolCallId: string, toolCallName: string },
    { parentMessageId: string },
    ({ toolCallId, toolCallName, parentMessageId }, aside, reading) => {
      if (reading.calls.has(toolCallId)) return `tool call ${toolCallId} is already open`
      const open = calling(reading, toolCallId, toolCallName, parentMessageId, aside)
      reading.calls.set(toolCallId, open)
      reading.callNames.set(toolCallId, toolCallName)
      partialCall(reading, toolCallId, open, '', aside)
      return undefined
    },
  ),
  TOOL_CALL_ARGS: on({ toolCallId: string, delta: string }, {}, ({ toolCallId, delta }, aside, reading) => {
    const open = reading.calls.get(toolCallId)
    if (open === undefined || strays(open, aside)) return `no tool call ${toolCallId} is open here`
    open.args += delta
    partialCall(reading, toolCallId, open, delta, aside)
    return undefined
  }),
  TOOL_CALL_END: on({ toolCallId: string }, {}, ({ toolCallId }, aside, reading) => {
    const open = reading.calls.get(toolCallId)
    if (open === undefined || strays(open, aside)) return `no tool call ${toolCallId} is open here`
    reading.calls.delete(toolCallId)
    const call: AdkFunctionCall = { id: toolCallId, name: open.name, ...callArguments(open.args) }
    const said = { ...open, author: reading.voice(open.tag), id: open.event, role: 'model' }
    reading.say({ ...said, parts: [{ functionCall: call }] }, aside, callKept(open))
    return undefined
  }),
  TOOL_CALL_RESULT: on(
    { messageId: string, toolCallId: string, content: toolContent },
    {},
    ({ messageId, toolCallId, content }, aside, reading) => {
      const response = responseFromContent(content)
      const files = responseFiles(content)
      const exact = sameJson(contentFromResponse(response, files), content) ? undefined : content
      const name = reading.callNames.get(toolCallId) ?? ''
      const made = { id: toolCallId, name, response, ...(files.length > 0 ? { parts: files } : {}) }
      const author = reading.voice(aside.tag)
      const message = reading.messageOf(messageId)
      const said = { message, id: reading.eventOf(messageId), author, role: 'user', tag: aside.tag }
      reading.say({ ...said, parts: [{ functionResponse: made }] }, aside, {
        content: exact,
        ...renamed(messageId, message),
      })
      return undefined
    },
    { role: oneOf(['tool']) },
  ),
}

/**
 * Reads the frame that nearly every frame is: a bare token of a message that is open. By hand, for the general way
 * makes six objects on the way that nobody keeps, and costs a long answer half its time. False for any other frame.
 */
export function readToken(wire: AgUiEvent, reading: DecoderState): boolean {
  const thinks = wire.type === 'REASONING_MESSAGE_CONTENT'
  if (!thinks && (wire.type !== 'TEXT_MESSAGE_CONTENT' || reading.held.size > 0)) return false
  const { messageId, delta } = wire
  if (typeof messageId !== 'string' || typeof delta !== 'string' || !isBare(wire)) return false
  const open = (thinks ? reading.reasonings : reading.texts).get(messageId)
  if (open === undefined || open.tag !== undefined) return false
  open.deltas.push(delta)
  const { message, author, role } = open
  const event: AdkEvent = {
    id: `${open.event}~${open.partials++}`,
    author,
    invocationId: reading.run,
    timestamp: 0,
    content: { role, parts: [thinks ? { text: delta, thought: true } : { text: delta }] },
    partial: true,
  }
  reading.drafts.push({ run: reading.run, event: { kind: 'agent', message, event } })
  return true
}

/** It has a type, an id and a delta, and nothing else. */
function isBare(wire: AgUiEvent): boolean {
  let size = 0
  for (const _ in wire) if (++size > 3) return false
  return true
}

/** The id on the wire, where the log had to take another. */
function renamed(id: string, message: string): Kept | undefined {
  return id === message ? undefined : { id }
}

/** A continuation may leave its subagent out, but may not name another than its opener's. */
function strays(open: { readonly tag: string | undefined }, { tag }: FrameContext): boolean {
  return tag !== undefined && tag !== open.tag
}

function partial(
  reading: DecoderState,
  open: StreamedMessage,
  delta: string,
  thought: boolean,
  aside: FrameContext,
  kept?: Kept,
): void {
  const id = `${open.event}~${open.partials++}`
  const { message, author, role, tag } = open
  const parts = [thought ? { text: delta, thought } : { text: delta }]
  reading.say({ message, id, author, role, parts, partial: true, tag }, aside, kept)
}

/** Under which ids the encoder prints it: those of the wire. A span of the message's own id goes without saying. */
function reasoningKept(id: string, { span }: StreamedMessage): Kept {
  return { reasoning: id, ...(span === undefined || span === id ? {} : { span }) }
}

/** The span that a message stands in: the one of its own id, else the last of its owner's that waits for a message. */
function heldSpan(reading: DecoderState, id: string, { tag }: FrameContext): MessageSpan | undefined {
  const own = reading.spans.get(id)
  if (own !== undefined && reading.held.has(own) && own.aside.tag === tag) return own
  return [...reading.held].findLast((span) => span.aside.tag === tag)
}

/** A span that nothing is said in, or not yet, is still a frame of the wire. */
export function emptySpan(reading: DecoderState, span: MessageSpan): void {
  const type = 'REASONING_START'
  const node = span.aside.tag === undefined ? {} : { node: span.aside.tag }
  span.state = 'said'
  reading.held.delete(span)
  reading.emit({ kind: 'log', level: 'debug', message: type, ...node }, span.aside, { type, messageId: span.id })
}

/** A call belongs to its parent's message, unless that is still streaming: then it would cut the text in two. */
function calling(
  reading: DecoderState,
  id: string,
  name: string,
  parent: string | undefined,
  aside: FrameContext,
): Calling {
  const shared = parent !== undefined && !reading.texts.has(parent)
  const own = reading.document.message(id) === undefined ? id : `${id}:call`
  const message = shared ? reading.messageOf(parent) : own
  const printed = message === id ? undefined : message
  return {
    name,
    message,
    event: reading.eventOf(id),
    parent: printed === parent ? undefined : (parent ?? null),
    tag: aside.tag,
    args: '',
    partials: 0,
  }
}

/** Arguments stream as text. ADK has no word for that, so the call carries `argsDelta`; SPEC 1.5 keeps it from counting. */
function partialCall(reading: DecoderState, id: string, open: Calling, delta: string, aside: FrameContext): void {
  const parts = [{ functionCall: { id, name: open.name, argsDelta: delta } }]
  const said = { message: open.message, id: `${open.event}~${open.partials++}`, author: reading.voice(open.tag) }
  reading.say({ ...said, role: 'model', parts, partial: true, tag: open.tag }, aside, callKept(open))
}

function callKept({ parent }: Calling): Kept | undefined {
  return parent === undefined ? undefined : { parent }
}
