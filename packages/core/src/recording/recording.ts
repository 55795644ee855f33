import type { Decoder, Dialect } from '../dialect/dialect.ts'
import { type DialectName, dialectNames, dialects } from '../dialect/registry.ts'
import { MillraceError } from '../event/problem.ts'
import type { Draft, Recorded } from '../event/run-event.ts'
import { applyState } from '../event/state-fold.ts'
import { utf8Reader } from '../frame/utf8.ts'
import { type JsonObject, type PatchOp, parseJson, sameJson } from '../json/json.ts'
import { pointerSegment } from '../json/pointer.ts'
import { detectDialect } from './detect.ts'
import { type FrameSource, frameSource, type Placed } from './frames.ts'
import type { Framing } from './framing.ts'
import { recordingClock } from './time.ts'

export interface RecordingOptions {
  /** The dialect of the text. Default: detected from its first frames. */
  readonly from?: DialectName
  /** The run that frames belong to until the wire names one itself. */
  readonly run: string
  readonly agent?: string
  /** The time of events in a recording that has no times. */
  readonly now: () => number
  /** Called between parts of a long text, to give other work of the process a turn. */
  readonly pause?: () => Promise<void>
}

/** A recording in memory, or as it arrives: text, or bytes in UTF-8, cut anywhere. */
export type RecordingChunks = string | Uint8Array | AsyncIterable<string | Uint8Array>

/** A row, where it comes from, and what is known at that point about its recording. */
export interface PlacedRow {
  readonly row: Recorded
  readonly dialect: DialectName
  readonly session: string | undefined
  /** Which frame, line or event of the file it was read from, from 1; undefined for what the end of the file adds. */
  readonly number: number | undefined
  readonly unit: FrameUnit
}

/** What the number of a frame counts: SSE frames, lines, or the events of a list. */
export type FrameUnit = 'frame' | 'line' | 'event'

interface Read extends PlacedRow {
  /** Where the first unreadable frame is; undefined while all frames could be read. */
  readonly unread: string | undefined
}

/** Frames after which a dialect is detected, and after which a recording without one is refused. */
const enough = 3
const tooMany = 50

/** Reads a recorded or live stream, of any dialect and framing, as the rows of a log, each as soon as it is known. */
export async function* readRecording(
  chunks: RecordingChunks,
  options: RecordingOptions,
): AsyncGenerator<Recorded, void> {
  for await (const { row } of read(chunks, options)) yield row
}

/** As `readRecording`, each row with the frame that it was read from: for a linter, whose reader looks at the file. */
export async function* placedRecording(
  chunks: RecordingChunks,
  options: RecordingOptions,
): AsyncGenerator<PlacedRow, void> {
  for await (const { row, dialect, session, number, unit } of read(chunks, options))
    yield { row, dialect, session, number, unit }
}

/** As `readRecording`, with what is known about the recording. At most `mostWaiting` rows wait for a first time. */
export async function* read(
  chunks: RecordingChunks,
  { from, run, agent, now }: RecordingOptions,
  mostWaiting = 50,
): AsyncGenerator<Read, void> {
  const source = frameSource()
  const clock = recordingClock(now, mostWaiting)
  let taken = from
  let decoder: Decoder | undefined
  let state: JsonObject = {}
  let unread: string | undefined
  // The clock returns rows in the order of their drafts, so the numbers of those that wait are a queue.
  const numbers: (number | undefined)[] = []
  const open = (name: DialectName): Decoder => {
    taken = name
    decoder = dialectNamed(name).decoder({
      run,
      // A recording that names no agent has none. The default of a dialect could be the name of an agent that is here.
      agent: agent ?? source.about.agent ?? '',
      // A file of events holds a whole conversation, a stream holds one run of it.
      turns: source.framing !== 'sse',
    })
    return decoder
  }
  const out = function* (rows: readonly Recorded[]): Generator<Read, void> {
    for (const row of rows) {
      if (source.about.state !== undefined) state = applyState(state, row.event)
      const session = decoder?.session ?? source.about.session
      const unit = units[source.framing ?? 'sse']
      yield { row, dialect: taken ?? 'millrace', session, number: numbers.shift(), unit, unread }
    }
  }
  const take = function* (drafts: readonly Draft[], number?: number): Generator<Read, void> {
    for (const draft of drafts) {
      numbers.push(number)
      yield* out(clock.push(draft))
    }
  }
  const pushed = function* (by: Decoder, frames: readonly Placed[]): Generator<Read, void> {
    for (const { frame, number } of frames) {
      const drafts = by.push(frame)
      if (drafts.some(({ event }) => event.kind === 'foreign')) unread ??= placeOf(source, number)
      yield* take(drafts, number)
    }
  }
  let waiting: readonly Placed[] = []
  const named = (): DialectName | undefined => from ?? source.about.dialect
  const detected = (): DialectName | undefined => detectDialect(waiting.map(({ frame }) => frame))
  if (from !== undefined) dialectNamed(from)
  try {
    for await (const chunk of textsOf(chunks)) {
      const frames = source.feed(chunk)
      if (frames.length === 0) continue
      // No `push(...frames)`: one chunk may hold more frames than a call can take arguments.
      waiting = waiting.length === 0 ? frames : [...waiting, ...frames]
      if (decoder === undefined) {
        const name = named() ?? (waiting.length < enough ? undefined : detected())
        if (name === undefined && waiting.length < tooMany) continue
        decoder = open(name ?? unknown(source, waiting))
      }
      yield* pushed(decoder, waiting)
      waiting = []
    }
  } catch (error) {
    // The rows read so far still get an end, which says that the stream was cut.
    if (decoder !== undefined || from !== undefined) {
      const ending = decoder ?? open(from ?? 'millrace')
      yield* take(ending.end('cut'))
      yield* out(clock.end())
    }
    throw error
  }
  waiting = [...waiting, ...source.end()]
  decoder ??= open(named() ?? detected() ?? unknown(source, waiting))
  yield* pushed(decoder, waiting)
  yield* take(decoder.end(source.open ? 'cut' : 'closed'))
  const left = patchTo(state, source.about.state)
  if (left.length > 0) yield* take([{ run: '', event: { kind: 'state', patch: left } }])
  yield* out(clock.end())
}

async function* textsOf(chunks: RecordingChunks): AsyncGenerator<string, void> {
  const utf8 = utf8Reader()
  const all = typeof chunks === 'string' || chunks instanceof Uint8Array ? [chunks] : chunks
  for await (const chunk of all) yield typeof chunk === 'string' ? chunk : utf8.feed(chunk)
  const rest = utf8.end()
  if (rest !== '') yield rest
}

/** The part of a session's state that its events do not explain: what the session was created with. */
function patchTo(state: JsonObject, wanted: JsonObject = {}): readonly PatchOp[] {
  return Object.entries(wanted).flatMap(([key, value]): PatchOp[] => {
    // No JSON Patch may touch `__proto__`, and one refused operation would refuse the whole patch.
    if (key === '__proto__' || (Object.hasOwn(state, key) && sameJson(state[key], value))) return []
    return [{ op: 'add', path: pointerSegment(key), value }]
  })
}

export function dialectNamed(name: DialectName): Dialect {
  if (Object.hasOwn(dialects, name)) return dialects[name]
  throw new MillraceError('invalid', `unknown dialect ${name}; known: ${dialectNames.join(', ')}`, { dialect: name })
}

const units: Readonly<Record<Framing, FrameUnit>> = { sse: 'frame', lines: 'line', document: 'event' }

function placeOf({ framing = 'sse' }: FrameSource, number: number): string {
  return `${units[framing]} ${number}`
}

/** Refuses frames that no dialect recognises, and says what is wrong with the first. */
function unknown(source: FrameSource, frames: readonly Placed[]): never {
  const [first] = frames.filter(({ frame }) => frame.data !== '')
  if (first === undefined) {
    const what = source.framing === 'sse' ? 'this is neither JSON nor an event stream' : 'this recording has no events'
    throw new MillraceError('invalid', what)
  }
  const place = placeOf(source, first.number)
  const parsed = parseJson(first.frame.data)
  const reason = 'reason' in parsed ? parsed.reason : 'JSON, but no event of a known dialect'
  throw new MillraceError('invalid', `this is not a stream format that Millrace knows; ${place}: ${reason}`, {
    place,
    reason,
  })
}
