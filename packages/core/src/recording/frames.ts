import type { DialectName } from '../dialect/registry.ts'
import { MillraceError } from '../event/problem.ts'
import type { Frame } from '../frame/frame.ts'
import { heldText } from '../frame/held.ts'
import { ndjsonReader } from '../frame/ndjson.ts'
import { maxFrameSize, sseReader } from '../frame/sse.ts'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../json/json.ts'
import { type Framing, framingOf } from './framing.ts'

/** A frame and where it is in its file: which SSE frame, line, or event of a list, counted from 1. */
export interface Placed {
  readonly frame: Frame
  readonly number: number
}

export interface FrameSource {
  feed(chunk: string): readonly Placed[]
  end(): readonly Placed[]
  /** Absent until the text has shown it. */
  readonly framing: Framing | undefined
  /** The text stopped inside a frame. */
  readonly open: boolean
  /** What the file says about its events: the header of an export, the fields of an ADK session. */
  readonly about: About
}

export interface About {
  /** An export says itself what it is. */
  readonly dialect?: DialectName
  readonly session?: string
  readonly agent?: string
  /** The state at the end of the events. */
  readonly state?: JsonObject
}

/** A document is parsed whole, so there is an end to what is held of it. */
const longestDocument = 2 ** 28

/** The text of a recording as frames: SSE, one JSON value a line, a list of events, or an ADK session. */
export function frameSource(): FrameSource {
  const sse = sseReader()
  const lines = ndjsonReader()
  const held = heldText()
  let framing: Framing | undefined
  let about: About = {}
  let frames = 0

  const cut = (text: string): readonly Placed[] => {
    if (framing === 'sse') return sse.feed(text).map((frame) => ({ frame, number: ++frames }))
    return lines.feed(text).flatMap(lineFrame)
  }
  const lineFrame = (line: { readonly number: number; readonly text: string; readonly truncated?: true }): Placed[] => {
    const header = frames++ === 0 ? headerOf(line.text) : undefined
    if (header !== undefined) {
      about = header
      return []
    }
    const { number, text, truncated } = line
    return [{ frame: { data: text, ...(truncated === undefined ? {} : { truncated }) }, number }]
  }
  const document = (): readonly Placed[] => {
    const parsed = parseJson(held.take().replace(/^\uFEFF/, ''))
    if ('reason' in parsed) {
      const what = parsed.reason === 'not JSON' ? 'not whole: it ends too early or is no JSON' : parsed.reason
      throw new MillraceError('invalid', `a JSON document that is ${what}`, { reason: parsed.reason })
    }
    const { events, ...told } = eventsIn(parsed.value)
    about = told
    return events.map((event, i) => ({ frame: { data: JSON.stringify(event) }, number: i + 1 }))
  }
  const begin = (over: boolean): readonly Placed[] => {
    const head = held.take()
    framing = head.length > maxFrameSize ? 'document' : framingOf(head, over)
    if (framing !== undefined && framing !== 'document') return cut(head)
    held.add(head)
    return []
  }

  return {
    feed(chunk) {
      if (framing === 'sse' || framing === 'lines') return cut(chunk)
      // What tells more than the first characters is the end of a line. A look at every chunk would cost the square.
      const telling = held.length === 0 || held.length > maxFrameSize || chunk.includes('\n')
      held.add(chunk)
      if (held.length > longestDocument) throw new MillraceError('limit', 'a JSON document longer than may be read')
      return framing === undefined && telling ? begin(false) : []
    },
    end() {
      const begun = framing === undefined ? begin(true) : []
      if (framing === 'document') return document()
      return framing === 'lines' ? [...begun, ...lines.end().flatMap(lineFrame)] : begun
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

/** The events of a document: a list as ADK's `/run` answers, an ADK session, or one event alone. */
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

/** The first line of a session export: about the rows, not one of them. */
function headerOf(line: string): About | undefined {
  const parsed = parseJson(line)
  if ('reason' in parsed || !isJsonObject(parsed.value) || parsed.value.format !== 'millrace.session') return undefined
  const { session } = parsed.value
  const id = isJsonObject(session) ? session.id : undefined
  return { dialect: 'millrace', ...(typeof id === 'string' ? { session: id } : {}) }
}
