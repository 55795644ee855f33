import type { DialectName } from '../dialect/registry.ts'
import { MillraceError } from '../event/problem.ts'
import type { Frame } from '../frame/frame.ts'
import { heldText } from '../frame/held.ts'
import { type Line, ndjsonReader } from '../frame/ndjson.ts'
import { maxFrameSize, sseReader } from '../frame/sse.ts'
import { isJsonObject, type Json, type JsonObject, maxJsonDepth, parseJson } from '../json/json.ts'
import { type Framing, framingOf } from './framing.ts'

/** Takes frames, and where each is in its file: which SSE frame, line, or event of a list, counted from 1. */
export interface FrameTaker {
  takeFrame(frame: Frame, number: number): void
}

export interface FrameSource {
  feed(chunk: string): void
  end(): void
  /** Undefined until enough of the text is known. */
  readonly framing: Framing | undefined
  /** Whether the text so far ends inside a frame. */
  readonly open: boolean
  /** What the file says about its events: the header of an export, the fields of an ADK session. */
  readonly about: About
}

export interface About {
  /** The header of an export names it. */
  readonly dialect?: DialectName
  readonly session?: string
  readonly agent?: string
  /** The state at the end of the events. */
  readonly state?: JsonObject
}

/** Characters. A document is kept in memory and parsed whole, so its length must have a limit. */
const longestDocument = 2 ** 28
/** Values of all events together. */
const mostNodes = 2 ** 23

/** The text of a recording as frames: SSE, one JSON value a line, a list of events, or an ADK session. */
export function frameSource(taker: FrameTaker): FrameSource {
  const sse = sseReader()
  const lines = ndjsonReader()
  const held = heldText()
  let framing: Framing | undefined
  let about: About = {}
  let frames = 0

  const cut = (text: string): void => {
    if (framing === 'sse') for (const frame of sse.feed(text)) taker.takeFrame(frame, ++frames)
    else for (const line of lines.feed(text)) takeLine(line)
  }
  const takeLine = ({ number, text, truncated }: Line): void => {
    const header = frames++ === 0 ? headerOf(text) : undefined
    if (header !== undefined) about = header
    else taker.takeFrame(truncated === undefined ? { data: text } : { data: text, truncated }, number)
  }
  const takeDocument = (): void => {
    const parsed = parseJson(held.take().replace(/^\uFEFF/, ''), maxJsonDepth, mostNodes)
    if ('reason' in parsed) {
      const what = parsed.reason === 'not JSON' ? 'not valid: it ends too early, or it is not JSON' : parsed.reason
      throw new MillraceError('invalid', `this JSON document is ${what}`, { reason: parsed.reason })
    }
    const { events, ...rest } = eventsIn(parsed.value)
    about = rest
    for (const event of events) taker.takeFrame({ data: JSON.stringify(event) }, ++frames)
  }
  const begin = (over: boolean): void => {
    const head = held.take()
    // One chunk may be longer than any frame, so the length decides only where the text does not.
    framing = framingOf(head, over) ?? (head.length > maxFrameSize ? 'document' : undefined)
    if (framing !== undefined && framing !== 'document') cut(head)
    else held.add(head)
  }

  return {
    feed(chunk) {
      if (framing === 'sse' || framing === 'lines') {
        cut(chunk)
        return
      }
      // Beyond the first characters, only the end of a line gives new information. To look at every chunk would make
      // the work quadratic.
      const informative = held.length === 0 || held.length > maxFrameSize || chunk.includes('\n')
      held.add(chunk)
      if (held.length > longestDocument)
        throw new MillraceError(
          'limit',
          `this JSON document is longer than ${longestDocument} characters: split it, or send one event a line`,
        )
      if (framing === undefined && informative) begin(false)
    },
    end() {
      if (framing === undefined) begin(true)
      if (framing === 'document') takeDocument()
      else if (framing === 'lines') for (const line of lines.end()) takeLine(line)
    },
    get framing() {
      return framing
    },
    get open() {
      return framing === 'sse' && sse.open
    },
    get about() {
      return about
    },
  }
}

/** The events of a document: a list (the answer of ADK's `/run`), an ADK session, or a single event. */
function eventsIn(value: Json): About & { readonly events: readonly Json[] } {
  if (Array.isArray(value)) return { events: value }
  if (!isJsonObject(value) || !Array.isArray(value.events)) return { events: [value] }
  const { id, appName = value.app_name, state, events } = value
  return {
    events,
    ...(typeof id === 'string' ? { session: id } : {}),
    ...(typeof appName === 'string' ? { agent: appName } : {}),
    ...(isJsonObject(state) ? { state } : {}),
  }
}

/** The first line of a session export describes the rows and is not one of them. */
function headerOf(line: string): About | undefined {
  const parsed = parseJson(line)
  if ('reason' in parsed || !isJsonObject(parsed.value) || parsed.value.format !== 'millrace.session') return undefined
  const { session } = parsed.value
  const id = isJsonObject(session) ? session.id : undefined
  return { dialect: 'millrace', ...(typeof id === 'string' ? { session: id } : {}) }
}
