import { Fault } from '../schema/fault.ts'
import type { AdkContent, AdkEvent } from './adk-event.ts'
import { type AdkWireEvent, readAdkEvent } from './adk-shape.ts'

/** What `ingest` makes of one ADK event off a wire: the canonical event and its stable message id, or why not. */
export type Ingested = { readonly event: AdkEvent; readonly message: string } | { readonly reason: string }

export interface IngestOptions {
  /** Ids for events that came without one are made from this (the run) and a count. */
  readonly prefix?: string
  /** The author of events that name none. */
  readonly author?: string
  /** What is handed in was made for this alone (fresh from JSON.parse) and may be completed in place. */
  readonly owned?: boolean
}

/** A message still streaming. */
interface Open {
  readonly message: string
  /** Whether text has streamed: then only an event with text is its aggregate. */
  text: boolean
}

/** Where events of one conversation run: parallel agents differ in author or branch, so their partials never join. */
interface Lane {
  readonly invocationId: string
  readonly author: string
  readonly branch: string | undefined
  readonly turnId: string | undefined
  readonly key: string
}

/** More messages than this do not stream at once; the oldest was cut off and is forgotten, so memory is bounded. */
const maxOpen = 1000

/**
 * Normalises ADK events of both flavours and joins partials to their aggregate (SPEC 1.2, 1.4). ADK gives every partial
 * and every aggregate a new id, so the join is by (invocation, author, branch, run of partials), made once, here.
 * Unless it is `owned`, what it is given is not changed: a live ADK event can be handed in.
 */
export function adkIngest(options: IngestOptions = {}): (raw: unknown) => Ingested {
  const { prefix = 'event', author = '', owned = false } = options
  const join = messageJoin()
  let unnamed = 0
  const newId = (): string => `${prefix}-${++unnamed}`
  return (raw) => {
    const read = readAdkEvent(raw)
    if (read instanceof Fault) return { reason: read.describe('event') }
    if (!saysSomething(read)) return { reason: 'not an ADK event: no author, content, actions or error' }
    const timestamp = milliseconds(read.timestamp)
    if (owned && read.timestamp !== undefined) read.timestamp = timestamp
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

/** Any JSON object passes for an event whose fields are all absent; one that has none of these is something else. */
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
  let lane: Lane | undefined
  return (event) => {
    const partial = event.partial === true
    if (!partial && streaming.size === 0) return event.id
    if (lane === undefined || !isIn(lane, event)) lane = laneOf(event) // most events are of the same lane as the last
    const open = streaming.get(lane.key)
    const said = saidIn(event.content)
    if (partial) {
      if (open !== undefined) {
        open.text ||= (said & text) !== 0
        return open.message
      }
      if (streaming.size >= maxOpen) streaming.delete(streaming.keys().next().value ?? '')
      streaming.set(lane.key, { message: event.id, text: (said & text) !== 0 })
      return event.id
    }
    if (open === undefined) return event.id
    // The aggregate repeats what streamed: text, or, where only a call streamed, the call.
    const aggregate = (said & response) === 0 && (said & (open.text ? text : text | call)) !== 0
    if (aggregate || (said & (call | response)) !== 0 || endsTurn(event)) streaming.delete(lane.key)
    return aggregate ? open.message : event.id
  }
}

function laneOf({ invocationId, author, branch, turnId }: AdkEvent): Lane {
  return { invocationId, author, branch, turnId, key: JSON.stringify([invocationId, author, branch, turnId]) }
}

function isIn(lane: Lane, event: AdkEvent): boolean {
  return (
    lane.author === event.author &&
    lane.branch === event.branch &&
    lane.invocationId === event.invocationId &&
    lane.turnId === event.turnId
  )
}

/**
 * A turn can end without an aggregate: an error, an abort, or the content-less STOP event of ADK JS. What the same agent
 * says next is then a new message. Mere bookkeeping (a state change, an image between two deltas) does not end it.
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

/** Which of the three an event carries, as bits. */
function saidIn(content: AdkContent | undefined): number {
  let said = 0
  if (content?.parts === undefined) return said
  for (const part of content.parts) {
    if (part.text !== undefined && part.text !== '') said |= text
    if (part.functionCall !== undefined) said |= call
    if (part.functionResponse !== undefined) said |= response
  }
  return said
}

/**
 * ADK JS writes milliseconds, ADK Python seconds: 1e11 ms is 1973, 1e11 s is the year 5138. Python's microseconds are
 * kept as three decimals; the rounding takes off what the multiplication adds.
 */
function milliseconds(timestamp: number | undefined): number {
  if (timestamp === undefined) return 0
  return timestamp < 1e11 ? Math.round(timestamp * 1e6) / 1e3 : timestamp
}
