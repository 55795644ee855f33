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

/** One frame as a client of the dialect would get it. */
export interface WireFrame {
  readonly seq: number
  readonly frame: Frame
}

interface Encoded {
  readonly encoder: Encoder
  readonly frames: WireFrame[]
  rows: number
  /** The row encoded last: when tokens were brought in before it, all of it is printed anew. */
  last: Recorded | undefined
}

const known = new WeakMap<LiveLog, Map<DialectName, Encoded>>()

/** So long may one go take; who prints 100,000 events does it in many. */
const budget = 8

/**
 * The frames of a log in a dialect, by the very encoder the server uses. Only new rows are encoded, and only for some
 * milliseconds at a time: `done` tells whether there are more. The array is the same one, longer.
 */
export function framesOf(
  log: LiveLog,
  session: string,
  dialect: DialectName,
): { readonly frames: readonly WireFrame[]; readonly done: boolean } {
  const byDialect = known.get(log) ?? new Map<DialectName, Encoded>()
  known.set(log, byDialect)
  const { rows } = log
  const before = byDialect.get(dialect)
  const valid = before !== undefined && rows[before.rows - 1] === before.last
  const encoded: Encoded = valid
    ? before
    : { encoder: dialects[dialect].encoder({ session }), frames: [], rows: 0, last: undefined }
  byDialect.set(dialect, encoded)
  const until = performance.now() + budget
  for (; encoded.rows < rows.length; encoded.rows++) {
    const row = rows[encoded.rows]
    if (row === undefined) continue
    for (const frame of withSeq(encoded.encoder.push(row), row.seq)) encoded.frames.push({ seq: row.seq, frame })
    encoded.last = row
    if (encoded.rows % 64 === 63 && performance.now() > until) {
      encoded.rows += 1
      return { frames: encoded.frames, done: false }
    }
  }
  return { frames: encoded.frames, done: true }
}

/** How many frames have a seq up to this one. */
export function countUpTo(frames: readonly WireFrame[], seq: number): number {
  let low = 0
  let high = frames.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((frames[middle]?.seq ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return low
}

export function wireTextOf({ frame }: WireFrame): string {
  return printFrame(frame)
}

/** What a person looks for first in a frame: its type, wherever the dialect writes it. */
export function nameOf({ frame }: WireFrame): string {
  if (frame.event !== undefined) return frame.event
  if (frame.data === '') return frame.comment === undefined ? 'empty' : 'comment'
  const type = /"(?:type|kind|author)":"([^"\\]{1,60})"/.exec(frame.data.slice(0, 2000))?.[1]
  return type ?? 'data'
}

export function pretty(data: string): string {
  try {
    return JSON.stringify(JSON.parse(data), null, 2)
  } catch {
    return data
  }
}

/** The request that gets this stream, from this frame on. Quoted for a POSIX shell. */
export function asCurl(root: string, session: string, dialect: DialectName, after: number): string {
  const url = `${root}sessions/${encodeURIComponent(session)}/events?dialect=${dialect}${after > 0 ? `&after=${after}` : ''}`
  return `curl -N -H 'Accept: text/event-stream' '${url.replaceAll("'", "'\\''")}'`
}
