import type { AdkPart } from '../../../event/adk-event.ts'
import { canonicalPart } from '../../../event/adk-shape.ts'
import type { Logged } from '../../../event/run-event.ts'
import type { Json, JsonObject, PatchOp } from '../../../json/json.ts'
import { sameJson } from '../../../json/json.ts'
import { Fault } from '../../../schema/fault.ts'
import { boolean, data, dataObject, list, string } from '../../../schema/readers.ts'
import { contentPart } from '../content.ts'
import { rolesIn, survives } from '../document.ts'
import { readFact } from '../fact.ts'
import { inputMessage, messagesReader } from '../input.ts'
import { isCurrent, printMessage, type ReadMessage } from '../message.ts'
import { type AgUiMessage, patchOps } from '../wire.ts'
import { contentRoles } from './message.ts'
import { type DecoderState, type FrameContext, type Handler, on } from './state.ts'

/** State, snapshots, activities, RAW and CUSTOM. */
export const factHandlers: Readonly<Record<string, Handler>> = {
  STATE_SNAPSHOT: on({ snapshot: data }, {}, ({ snapshot }, context, decoder) => {
    emitState(decoder, [{ op: 'replace', path: '', value: snapshot }], context)
    return undefined
  }),
  STATE_DELTA: on({ delta: patchOps }, {}, ({ delta }, context, decoder) => {
    emitState(decoder, delta, context)
    return undefined
  }),
  MESSAGES_SNAPSHOT: on({ messages: list(data) }, {}, ({ messages }, context, decoder) => {
    const made = messagesReader(decoder.callNames)(messages, false)
    if (made instanceof Fault) return made.describe('messages')
    decoder.documentAll()
    emitSnapshot(decoder, made, messages as readonly AgUiMessage[], context)
    return undefined
  }),

  ACTIVITY_SNAPSHOT: on(
    { messageId: string, activityType: string, content: dataObject },
    { replace: boolean },
    ({ messageId, activityType, content, replace }, context, decoder) => {
      const part = activityPart(activityType, content)
      if (part === undefined) {
        note(decoder, 'info', activityType, content, context, { type: 'ACTIVITY_SNAPSHOT', messageId, replace })
        return undefined
      }
      const author = decoder.authorOf(context.tag)
      const said = { message: messageId, id: decoder.eventOf(messageId), author, role: 'model', tag: context.tag }
      decoder.say({ ...said, parts: [part] }, context, { activity: messageId })
      return undefined
    },
  ),
  ACTIVITY_DELTA: on(
    { messageId: string, activityType: string, patch: patchOps },
    {},
    ({ messageId, activityType, patch }, context, decoder) => {
      const data = patch.map((op) => ({ ...op }))
      note(decoder, 'debug', activityType, data, context, { type: 'ACTIVITY_DELTA', messageId })
      return undefined
    },
  ),
  RAW: on({ event: data }, { source: string }, ({ event, source }, context, decoder) => {
    note(decoder, 'debug', source ?? 'RAW', event, context, { type: 'RAW', source })
    return undefined
  }),
  CUSTOM: on({ name: string, value: data }, {}, ({ name, value }, context, decoder) => {
    const fact = readFact(name, value)
    if (fact === undefined) note(decoder, 'info', name, value, context, { type: 'CUSTOM' })
    else decoder.emit(fact, context)
    return undefined
  }),
}

function emitState(decoder: DecoderState, patch: readonly PatchOp[], context: FrameContext): void {
  decoder.emit({ kind: 'state', patch, ...(context.tag === undefined ? {} : { node: context.tag }) }, context)
}

/** An event without a canonical form becomes a log record with its data; its original form is kept beside it. */
function note(
  decoder: DecoderState,
  level: Logged['level'],
  message: string,
  data: Json,
  context: FrameContext,
  kept: Readonly<Record<string, Json | undefined>>,
): void {
  const node = context.tag === undefined ? {} : { node: context.tag }
  decoder.emit({ kind: 'log', level, message, data, ...node }, context, kept)
}

/** An assistant's message has no place for files and code: Millrace's encoder prints them as activities. */
export const mediaActivity = 'media'
export const partActivity = 'adk.part'
function activityPart(type: string, content: JsonObject): AdkPart | undefined {
  if (type === mediaActivity) {
    const part = contentPart(content, false)
    return part instanceof Fault ? undefined : part
  }
  // An activity of that name whose content is no ADK part comes from another server, and stays an activity.
  return type === partActivity && !(canonicalPart(content, true) instanceof Fault) ? content : undefined
}

/**
 * A snapshot is the whole conversation. What is new in it becomes events: new messages, and `superseded` for messages
 * that are gone or changed. The encoder prints all of these events as one frame, at the last of them. That last event
 * also keeps, word for word, the messages that mean the same but are written differently.
 */
function emitSnapshot(
  decoder: DecoderState,
  messages: readonly ReadMessage[],
  wire: readonly AgUiMessage[],
  context: FrameContext,
): void {
  const quiet = { ...context, rest: undefined }
  const given = new Map(wire.map((message) => [message.id, message]))
  const known = (id: string) => decoder.document.message(id)
  const tracked = rolesIn(wire)
  const renamed = renamedResults(decoder, wire)
  const before = (message: AgUiMessage) => known(message.id) ?? known(renamed.get(message.id) ?? '')
  const same = new Map(
    wire
      .filter((message) => isSame(before(message), message) || isSame(decoder.sentAs(message), message))
      .map((message) => [message.id, message]),
  )
  const stay = new Set(renamed.values())
  const gone = decoder.document.messages.filter(
    (message) => !given.has(message.id) && !stay.has(message.id) && !survives(message, tracked),
  )
  const news = decoder.document.remembered(messages).filter(({ id }) => !same.has(id))
  const changed = news.filter(({ id }) => known(id) !== undefined)
  const over = [...gone, ...changed].flatMap(({ id }) => idsOf(decoder, id))
  if (over.length > 0) decoder.emit({ kind: 'superseded', messages: over, nodes: [] }, quiet, { snapshot: true })
  for (const message of news) {
    if (known(message.id) !== undefined) decoder.aliases.set(message.id, decoder.eventOf(`${message.id}:again`))
    emitMessage(decoder, message, given.get(message.id), quiet)
  }
  for (const [id, earlier] of renamed) decoder.aliases.set(id, decoder.messageOf(earlier))
  const order = wire.map((message) => message.id)
  const reworded = messages.flatMap((message) => {
    const word = same.get(message.id)
    if (word === undefined || decoder.sentAs(word)?.id === word.id || sameJson(known(word.id), word)) return []
    return verbatimOf(message, word)
  })
  decoder.emit({ kind: 'log', level: 'debug', message: 'MESSAGES_SNAPSHOT' }, context, {
    snapshot: order,
    ...(reworded.length === 0 ? {} : { same: reworded }),
  })
}

/**
 * The results of tools that have another id in the snapshot, by that id: LangGraph's adapter streams a result under an id
 * that it makes up, and repeats it under the id of the graph.
 */
function renamedResults(decoder: DecoderState, wire: readonly AgUiMessage[]): ReadonlyMap<string, string> {
  const results = new Map<string | undefined, AgUiMessage>()
  for (const message of decoder.document.messages) if (message.role === 'tool') results.set(message.toolCallId, message)
  const renamed = new Map<string, string>()
  for (const message of wire) {
    const result = message.role === 'tool' ? results.get(message.toolCallId) : undefined
    if (result === undefined || decoder.document.message(message.id) !== undefined) continue
    if (isSame(result, message)) renamed.set(message.id, result.id)
  }
  return renamed
}

/** Whether two messages say the same. Adapters write an absent text as '' and absent calls as []. */
function isSame(known: AgUiMessage | undefined, given: AgUiMessage): boolean {
  if (known === undefined) return false
  return sameJson(plainly(known), plainly({ ...given, id: known.id }))
}

function plainly({ content, toolCalls, ...message }: AgUiMessage): JsonObject {
  return {
    ...message,
    ...(content === '' || content === undefined ? {} : { content }),
    ...(toolCalls === undefined || toolCalls.length === 0 ? {} : { toolCalls }),
  }
}

/** The messages of the log behind one message of the wire: its own, and those of calls with their own message. */
function idsOf(decoder: DecoderState, id: string): readonly string[] {
  const calls = decoder.document.message(id)?.toolCalls ?? []
  return [decoder.messageOf(id), ...calls.map((call) => call.id).filter((call) => call !== id)]
}

/** The message as it came, or in the form of 1.0 where it came in an older one. */
function verbatimOf(read: ReadMessage, wire: AgUiMessage | undefined): readonly AgUiMessage[] {
  return wire !== undefined && isCurrent(wire) ? [wire] : inputMessage(read).flatMap(printMessage)
}

function emitMessage(
  decoder: DecoderState,
  read: ReadMessage,
  wire: AgUiMessage | undefined,
  context: FrameContext,
): void {
  const { id, role, name, parts } = read
  const [verbatim] = verbatimOf(read, wire)
  const tag = typeof wire?.subagentRunId === 'string' ? wire.subagentRunId : undefined
  if (role === 'activity') {
    note(decoder, 'info', wire?.activityType ?? role, wire?.content ?? {}, { ...context, tag }, { message: verbatim })
    return
  }
  const speaks = role === 'assistant' || role === 'tool' || role === 'reasoning'
  const author = speaks ? (name ?? decoder.authorOf(tag)) : role
  const said = { message: decoder.messageOf(id), id: decoder.eventOf(id), author, parts, tag }
  const contentRole = role === 'tool' ? 'user' : role === 'reasoning' ? 'model' : contentRoles[role]
  decoder.say({ ...said, role: contentRole }, context, { message: verbatim })
}
