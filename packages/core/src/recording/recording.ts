import type { Decoder, Dialect } from '../dialect/dialect.ts'
import { type DialectName, dialects } from '../dialect/registry.ts'
import { MillraceError } from '../event/problem.ts'
import type { Draft, Recorded } from '../event/run-event.ts'
import { applyState } from '../event/state-fold.ts'
import { type JsonObject, type PatchOp, parseJson, sameJson } from '../json/json.ts'
import { detectDialect } from './detect.ts'
import { type FrameSource, frameSource, type Placed } from './frames.ts'
import { recordingClock } from './time.ts'

export interface RecordingOptions {
  /** The dialect of the text; told from its first frames where absent. */
  readonly from?: DialectName
  /** The run that frames belong to until the wire names one itself. */
  readonly run: string
  readonly agent?: string
  /** The time of events in a recording that tells none. */
  readonly now: () => number
}

/** A row, and what is known by then of the recording it is from. */
export interface Read {
  readonly row: Recorded
  readonly dialect: DialectName
  readonly session: string | undefined
  /** Where the first frame is that could not be read; absent while all could. */
  readonly place: string | undefined
}

/** Enough frames to tell a dialect by, and how many may pass without a sign of one. */
const enough = 3
const tooMany = 50

/** A recorded or live stream of any dialect, in any framing, as the rows of a log, as they come. */
export async function* readRecording(
  chunks: AsyncIterable<string>,
  options: RecordingOptions,
): AsyncGenerator<Recorded, void> {
  for await (const { row } of read(chunks, options)) yield row
}

/** At most `patience` rows wait for the first time that the recording tells. */
export async function* read(
  chunks: AsyncIterable<string>,
  { from, run, agent, now }: RecordingOptions,
  patience = 50,
): AsyncGenerator<Read, void> {
  const source = frameSource()
  const clock = recordingClock(now, patience)
  let taken = from
  let decoder: Decoder | undefined
  let state: JsonObject = {}
  let place: string | undefined
  const open = (name: DialectName): Decoder => {
    const speaker = agent ?? source.about.agent
    taken = name
    decoder = dialectNamed(name).decoder({
      run,
      ...(speaker === undefined ? {} : { agent: speaker }),
      // A file of events holds a whole conversation, a stream holds one run of it.
      turns: source.framing !== 'sse',
    })
    return decoder
  }
  const out = function* (rows: readonly Recorded[]): Generator<Read, void> {
    for (const row of rows) {
      if (source.about.state !== undefined) state = applyState(state, row.event)
      const session = decoder?.session ?? source.about.session
      yield { row, dialect: taken ?? 'millrace', session, place }
    }
  }
  const take = function* (drafts: readonly Draft[]): Generator<Read, void> {
    for (const draft of drafts) yield* out(clock.push(draft))
  }
  const pushed = function* (by: Decoder, frames: readonly Placed[]): Generator<Read, void> {
    for (const { frame, number } of frames) {
      const drafts = by.push(frame)
      if (drafts.some(({ event }) => event.kind === 'foreign')) place ??= placeOf(source, number)
      yield* take(drafts)
    }
  }
  let waiting: readonly Placed[] = []
  const named = (): DialectName | undefined => from ?? source.about.dialect
  const detected = (): DialectName | undefined => detectDialect(waiting.map(({ frame }) => frame))
  if (from !== undefined) dialectNamed(from)
  try {
    for await (const chunk of chunks) {
      const frames = source.feed(chunk)
      if (frames.length === 0) continue
      // Not spread into a call: a recording may come as one chunk of more frames than a call takes arguments.
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
    // The reader of what came so far still gets an end that says so.
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

/** What a session's state has that its events do not tell: what it was created with. */
function patchTo(state: JsonObject, wanted: JsonObject = {}): readonly PatchOp[] {
  return Object.entries(wanted).flatMap(([key, value]): PatchOp[] => {
    // No JSON Patch may touch `__proto__`, and one refused operation would refuse the whole patch.
    if (key === '__proto__' || (Object.hasOwn(state, key) && sameJson(state[key], value))) return []
    return [{ op: 'add', path: `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, value }]
  })
}

export function dialectNamed(name: DialectName): Dialect {
  if (Object.hasOwn(dialects, name)) return dialects[name]
  throw new MillraceError('invalid', `no dialect ${name}`, { dialect: name })
}

const units = { sse: 'frame', lines: 'line', document: 'event' } as const

function placeOf({ framing = 'sse' }: FrameSource, number: number): string {
  return `${units[framing]} ${number}`
}

/** Refuses frames that show no dialect, with what is wrong with the first. */
function unknown(source: FrameSource, frames: readonly Placed[]): never {
  const [first] = frames.filter(({ frame }) => frame.data !== '')
  if (first === undefined) {
    const what =
      source.framing === 'sse' ? 'neither JSON nor an event stream: no frame in it' : 'there is no event in it'
    throw new MillraceError('invalid', what)
  }
  const place = placeOf(source, first.number)
  const parsed = parseJson(first.frame.data)
  const reason = 'reason' in parsed ? parsed.reason : 'JSON, but no dialect has such an event'
  throw new MillraceError('invalid', `no dialect speaks like this; ${place}: ${reason}`, { place, reason })
}
