import { Fault } from '../schema/fault.ts'
import type { AdkContent, AdkEvent } from './adk-event.ts'
import { type AdkWireEvent, readAdkEvent } from './adk-shape.ts'
import { isPartial } from './streaming.ts'

/** The result for one ADK event off a wire: the canonical event and its stable message id, or why it is not an ADK event. */
export type Ingested = { readonly event: AdkEvent; readonly message: string } | { readonly reason: string }

export interface IngestOptions {
  /** An event without an id gets one made of this prefix (the run) and a count. */
  readonly prefix?: string
  /** The author of events that name none. */
  readonly author?: string
  /** The values passed in are fresh from JSON.parse and used nowhere else, so they may be completed in place. */
  readonly mutable?: boolean
}

/** A message still streaming. */
interface Open {
  readonly message: string
  /** Whether text has streamed: then only an event with text is its aggregate. */
  text: boolean
}

/** What the events of one message share. Parallel agents differ in author or branch, so their partials never join. */
interface SpeakerKey {
  readonly invocationId: string
  readonly author: string
  readonly branch: string | undefined
  readonly turnId: string | undefined
  readonly key: string
}

/** At most this many messages stream at once. Beyond it the oldest is taken to be cut off and forgotten: memory is bounded. */
const maxOpen = 1000

/**
 * Normalises ADK events of both flavours and joins partials to their aggregate (SPEC 1.2, 1.4). ADK gives every partial
 * and every aggregate a new id, so the join is by (invocation, author, branch, run of partials), made once, here.
 * Unless `mutable` is set, its input is not changed: a live ADK event can be passed in.
 */
export function adkIngest(options: IngestOptions = {}): (raw: unknown) => Ingested {
  const { prefix = 'event', author = '', mutable = false } = options
  const join = messageJoin()
  let unnamed = 0
  const newId = (): string => `${prefix}-${++unnamed}`
  return (raw) => {
    const read = readAdkEvent(raw)
    if (read instanceof Fault) return { reason: read.describe('event') }
    if (!saysSomething(read)) return { reason: 'not an ADK event: no author, content, actions or error' }
    const timestamp = milliseconds(read.timestamp)
    if (mutable && read.timestamp !== undefined) read.timestamp = timestamp
    const event: AdkEvent =
      isComplete(read) && read.timestamp === timestamp
        ? read
        : {
            ...read,
            id: read.id === undefined || read.id === '' ? newId() : read.id,
            author: read.author ?? author,
            invocationId: read.invocationId ?? '',
            timestamp,
          }
    return { event, message: join(event) }
  }
}

/** Every field is optional, so any JSON object reads as an event. One that has none of these fields is something else. */
function saysSomething({ author, content, actions, errorCode, errorMessage }: AdkWireEvent): boolean {
  return (author ?? content ?? actions ?? errorCode ?? errorMessage) !== undefined
}

function isComplete(read: AdkWireEvent): read is AdkEvent {
  return (
    read.id !== undefined &&
    read.id !== '' &&
    read.author !== undefined &&
    read.invocationId !== undefined &&
    read.timestamp !== undefined
  )
}

/** Joins the events of one stream into messages. */
function messageJoin(): (event: AdkEvent) => string {
  const streaming = new Map<string, Open>()
  let speaker: SpeakerKey | undefined
  return (event) => {
    const partial = isPartial(event)
    if (!partial && streaming.size === 0) return event.id
    if (speaker === undefined || !isBy(speaker, event)) speaker = speakerOf(event) // most follow one by the same speaker
    const open = streaming.get(speaker.key)
    const kinds = partKinds(event.content)
    if (partial) {
      if (open !== undefined) {
        open.text ||= (kinds & text) !== 0
        return open.message
      }
      if (streaming.size >= maxOpen) streaming.delete(streaming.keys().next().value ?? '')
      streaming.set(speaker.key, { message: event.id, text: (kinds & text) !== 0 })
      return event.id
    }
    if (open === undefined) return event.id
    // The aggregate repeats what streamed: text, or, where only a call streamed, the call.
    const aggregate = (kinds & response) === 0 && (kinds & (open.text ? text : text | call)) !== 0
    if (aggregate || (kinds & (call | response)) !== 0 || endsTurn(event)) streaming.delete(speaker.key)
    return aggregate ? open.message : event.id
  }
}

function speakerOf({ invocationId, author, branch, turnId }: AdkEvent): SpeakerKey {
  return { invocationId, author, branch, turnId, key: JSON.stringify([invocationId, author, branch, turnId]) }
}

function isBy(speaker: SpeakerKey, event: AdkEvent): boolean {
  return (
    speaker.author === event.author &&
    speaker.branch === event.branch &&
    speaker.invocationId === event.invocationId &&
    speaker.turnId === event.turnId
  )
}

/**
 * A turn can end without an aggregate: by an error, an abort, or the content-less STOP event of ADK JS. The next text of
 * the same agent is then a new message. A state change, or an image between two deltas, does not end a turn.
 */
function endsTurn({ finishReason, errorCode, errorMessage, turnComplete, interrupted }: AdkEvent): boolean {
  return (
    finishReason !== undefined ||
    errorCode !== undefined ||
    errorMessage !== undefined ||
    turnComplete === true ||
    interrupted === true
  )
}

const text = 1
const call = 2
const response = 4

/** Which of the three kinds of part an event has, as bits. */
function partKinds(content: AdkContent | undefined): number {
  let kinds = 0
  if (content?.parts === undefined) return kinds
  for (const part of content.parts) {
    if (part.text !== undefined && part.text !== '') kinds |= text
    if (part.functionCall !== undefined) kinds |= call
    if (part.functionResponse !== undefined) kinds |= response
  }
  return kinds
}

/**
 * ADK JS writes milliseconds, ADK Python seconds: 1e11 ms is 1973, 1e11 s is the year 5138. Python's microseconds are
 * kept as three decimals; the rounding takes off what the multiplication adds.
 */
function milliseconds(timestamp: number | undefined): number {
  if (timestamp === undefined) return 0
  return timestamp < 1e11 ? Math.round(timestamp * 1e6) / 1e3 : timestamp
}
