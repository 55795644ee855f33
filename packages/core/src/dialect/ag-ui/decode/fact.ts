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

/** State, snapshots, activities and the extension points. */
export const factHandlers: Readonly<Record<string, Handler>> = {
  STATE_SNAPSHOT: on({ snapshot: data }, {}, ({ snapshot }, aside, reading) => {
    emitState(reading, [{ op: 'replace', path: '', value: snapshot }], aside)
    return undefined
  }),
  STATE_DELTA: on({ delta: patchOps }, {}, ({ delta }, aside, reading) => {
    emitState(reading, delta, aside)
    return undefined
  }),
  MESSAGES_SNAPSHOT: on({ messages: list(data) }, {}, ({ messages }, aside, reading) => {
    const made = messagesReader(reading.callNames)(messages, false)
    if (made instanceof Fault) return made.describe('messages')
    reading.tellAll()
    emitSnapshot(reading, made, messages as readonly AgUiMessage[], aside)
    return undefined
  }),

  ACTIVITY_SNAPSHOT: on(
    { messageId: string, activityType: string, content: dataObject },
    { replace: boolean },
    ({ messageId, activityType, content, replace }, aside, reading) => {
      const part = activityPart(activityType, content)
      if (part === undefined) {
        note(reading, 'info', activityType, content, aside, { type: 'ACTIVITY_SNAPSHOT', messageId, replace })
        return undefined
      }
      const author = reading.voice(aside.tag)
      const said = { message: messageId, id: reading.eventOf(messageId), author, role: 'model', tag: aside.tag }
      reading.say({ ...said, parts: [part] }, aside, { activity: messageId })
      return undefined
    },
  ),
  ACTIVITY_DELTA: on(
    { messageId: string, activityType: string, patch: patchOps },
    {},
    ({ messageId, activityType, patch }, aside, reading) => {
      const data = patch.map((op) => ({ ...op }))
      note(reading, 'debug', activityType, data, aside, { type: 'ACTIVITY_DELTA', messageId })
      return undefined
    },
  ),
  RAW: on({ event: data }, { source: string }, ({ event, source }, aside, reading) => {
    note(reading, 'debug', source ?? 'RAW', event, aside, { type: 'RAW', source })
    return undefined
  }),
  CUSTOM: on({ name: string, value: data }, {}, ({ name, value }, aside, reading) => {
    const fact = readFact(name, value)
    if (fact === undefined) note(reading, 'info', name, value, aside, { type: 'CUSTOM' })
    else reading.emit(fact, aside)
    return undefined
  }),
}

function emitState(reading: DecoderState, patch: readonly PatchOp[], aside: FrameContext): void {
  reading.emit({ kind: 'state', patch, ...(aside.tag === undefined ? {} : { node: aside.tag }) }, aside)
}

/** What has no canonical word is a log line with its data; what it was on the wire is kept beside it. */
function note(
  reading: DecoderState,
  level: Logged['level'],
  message: string,
  data: Json,
  aside: FrameContext,
  kept: Readonly<Record<string, Json | undefined>>,
): void {
  const node = aside.tag === undefined ? {} : { node: aside.tag }
  reading.emit({ kind: 'log', level, message, data, ...node }, aside, kept)
}

/** Files and code of an agent have no place in an assistant's message: our encoder prints them as activities. */
export const mediaActivity = 'media'
export const partActivity = 'adk.part'
function activityPart(type: string, content: JsonObject): AdkPart | undefined {
  if (type === mediaActivity) {
    const part = contentPart(content, false)
    return part instanceof Fault ? undefined : part
  }
  // What is no part of ADK's is somebody else's activity of that name, and stays one.
  return type === partActivity && !(canonicalPart(content, true) instanceof Fault) ? content : undefined
}

/**
 * A snapshot says what the whole conversation is. Its news become events: messages that were not there, and, for those
 * that are gone or changed, that the earlier ones no longer count. All of them are printed by the last event alone.
 */
function emitSnapshot(
  reading: DecoderState,
  messages: readonly ReadMessage[],
  wire: readonly AgUiMessage[],
  aside: FrameContext,
): void {
  const quiet = { ...aside, rest: undefined }
  const given = new Map(wire.map((message) => [message.id, message]))
  const known = (id: string) => reading.document.message(id)
  const tracked = rolesIn(wire)
  const gone = reading.document.messages.filter((message) => !given.has(message.id) && !survives(message, tracked))
  const news = messages.filter(({ id }) => !sameJson(known(id), given.get(id)))
  const changed = news.filter(({ id }) => known(id) !== undefined)
  const over = [...gone, ...changed].flatMap(({ id }) => idsOf(reading, id))
  if (over.length > 0) reading.emit({ kind: 'superseded', messages: over, nodes: [] }, quiet, { snapshot: true })
  for (const message of news) {
    if (known(message.id) !== undefined) reading.aliases.set(message.id, reading.eventOf(`${message.id}:again`))
    emitMessage(reading, message, given.get(message.id), quiet)
  }
  const order = wire.map((message) => message.id)
  reading.emit({ kind: 'log', level: 'debug', message: 'MESSAGES_SNAPSHOT' }, aside, { snapshot: order })
}

/** The messages of the log that a message of the wire is made of: its own, and its calls' where they stand alone. */
function idsOf(reading: DecoderState, id: string): readonly string[] {
  const calls = reading.document.message(id)?.toolCalls ?? []
  return [reading.messageOf(id), ...calls.map((call) => call.id).filter((call) => call !== id)]
}

function emitMessage(
  reading: DecoderState,
  read: ReadMessage,
  wire: AgUiMessage | undefined,
  aside: FrameContext,
): void {
  const { id, role, name, parts } = read
  const verbatim = isCurrent(wire) ? wire : inputMessage(read).flatMap(printMessage)[0]
  const tag = typeof wire?.subagentRunId === 'string' ? wire.subagentRunId : undefined
  if (role === 'activity') {
    note(reading, 'info', wire?.activityType ?? role, wire?.content ?? {}, { ...aside, tag }, { message: verbatim })
    return
  }
  const speaks = role === 'assistant' || role === 'tool' || role === 'reasoning'
  const author = speaks ? (name ?? reading.voice(tag)) : role
  const said = { message: reading.messageOf(id), id: reading.eventOf(id), author, parts, tag }
  const contentRole = role === 'tool' ? 'user' : role === 'reasoning' ? 'model' : contentRoles[role]
  reading.say({ ...said, role: contentRole }, aside, { message: verbatim })
}
