import {
  type DialectName,
  dialects,
  type Encoder,
  type Frame,
  type LiveLog,
  printFrame,
  type Recorded,
  withSeq,
} from '@millrace/core'
import { firstIndexWhere } from '@millrace/core/persistent'

/** One frame as a client of the dialect would receive it. */
export interface WireFrame {
  readonly seq: number
  readonly frame: Frame
  /** When the log took the event, in milliseconds. */
  readonly at: number
  /** The type of the frame, wherever the dialect writes it. */
  readonly name: string
}

interface Encoded {
  readonly encoder: Encoder
  readonly frames: WireFrame[]
  /** How many frames of each type there are. */
  readonly types: Map<string, number>
  rows: number
  /** The row that was encoded last. If tokens are inserted before it, everything is encoded again. */
  last: Recorded | undefined
}

const known = new WeakMap<LiveLog, Map<DialectName, Encoded>>()

/** Time budget per pass in milliseconds; long logs take many passes. */
const budget = 8

/**
 * The frames of a log in a dialect, made by the encoder that the server uses. Only new rows are encoded, and only for a
 * few milliseconds per call: `done` is false while there are more. Every call returns the same array, which grows.
 */
export function framesOf(
  log: LiveLog,
  session: string,
  dialect: DialectName,
): { readonly frames: readonly WireFrame[]; readonly types: ReadonlyMap<string, number>; readonly done: boolean } {
  const byDialect = known.get(log) ?? new Map<DialectName, Encoded>()
  known.set(log, byDialect)
  const { rows } = log
  const before = byDialect.get(dialect)
  const valid = before !== undefined && rows[before.rows - 1] === before.last
  const encoded: Encoded = valid
    ? before
    : { encoder: dialects[dialect].encoder({ session }), frames: [], types: new Map(), rows: 0, last: undefined }
  byDialect.set(dialect, encoded)
  const until = performance.now() + budget
  for (; encoded.rows < rows.length; encoded.rows++) {
    const row = rows[encoded.rows]
    if (row === undefined) continue
    for (const frame of withSeq(encoded.encoder.push(row), row.seq)) {
      const name = nameOf(frame)
      encoded.frames.push({ seq: row.seq, frame, at: row.at, name })
      encoded.types.set(name, (encoded.types.get(name) ?? 0) + 1)
    }
    encoded.last = row
    if (encoded.rows % 64 === 63 && performance.now() > until) {
      encoded.rows += 1
      return { frames: encoded.frames, types: encoded.types, done: false }
    }
  }
  return { frames: encoded.frames, types: encoded.types, done: true }
}

/** How many frames have this seq or a lower one. */
export function countUpTo(frames: readonly WireFrame[], seq: number): number {
  return firstIndexWhere(frames.length, (index) => (frames[index]?.seq ?? 0) > seq)
}

/** How many frames of each type there are up to this seq. */
export function typesUpTo(frames: readonly WireFrame[], seq: number): ReadonlyMap<string, number> {
  const types = new Map<string, number>()
  const count = countUpTo(frames, seq)
  for (let i = 0; i < count; i++) {
    const name = frames[i]?.name ?? ''
    types.set(name, (types.get(name) ?? 0) + 1)
  }
  return types
}

export function wireTextOf({ frame }: WireFrame): string {
  return printFrame(frame)
}

function nameOf(frame: Frame): string {
  if (frame.event !== undefined) return frame.event
  if (frame.data === '') return frame.comment === undefined ? 'empty' : 'comment'
  const type = /"(?:type|kind|author)":"([^"\\]{1,60})"/.exec(frame.data.slice(0, 2000))?.[1]
  return type ?? 'data'
}

const utf8 = new TextEncoder()

/** The size of the frame on the wire. */
export function sizeOf(frame: WireFrame): string {
  const bytes = utf8.encode(wireTextOf(frame)).length
  return bytes < 1000
    ? `${bytes} B`
    : bytes < 1_000_000
      ? `${(bytes / 1000).toFixed(1)} kB`
      : `${(bytes / 1_000_000).toFixed(1)} MB`
}

const repeated = [
  '"(?:type|kind|invocationId|author|id)":"[^"]*"',
  String.raw`"timestamp":[\d.]+`,
  String.raw`"actions":\{(?:"\w+":\{\},?)*\}`,
  String.raw`"longRunningToolIds":\[\]`,
].join('|')
const beginning = new RegExp(String.raw`^\{(?:(?:${repeated}),?)+`)

/** The start of the data without its type, which the row already shows, and without what each frame of ADK repeats. */
export function briefly(data: string): string {
  return data.slice(0, 800).replace(beginning, '{').slice(0, 300)
}

export function pretty(data: string): string {
  try {
    return JSON.stringify(JSON.parse(data), null, 2)
  } catch {
    return data
  }
}

/** A curl command that reads this stream after this seq, quoted for a POSIX shell. */
export function asCurl(root: string, session: string, dialect: DialectName, after: number): string {
  const url = `${root}sessions/${encodeURIComponent(session)}/events?dialect=${dialect}${after > 0 ? `&after=${after}` : ''}`
  return `curl -N -H 'Accept: text/event-stream' '${url.replaceAll("'", "'\\''")}'`
}
