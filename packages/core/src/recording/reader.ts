import type { Decoder, Dialect } from '../dialect/dialect.ts'
import { type DialectName, dialectNames, dialects } from '../dialect/registry.ts'
import { MillraceError } from '../event/problem.ts'
import type { Draft, Recorded } from '../event/run-event.ts'
import { applyState } from '../event/state-fold.ts'
import { type JsonObject, type PatchOp, parseJson, sameJson } from '../json/json.ts'
import { pointerSegment } from '../json/pointer.ts'
import { detectDialect } from './detect.ts'
import { type FrameSource, frameSource, type Placed } from './frames.ts'
import type { Framing } from './framing.ts'
import type { FrameUnit, PlacedRow, RecordingOptions } from './recording.ts'
import { type RecordingClock, recordingClock } from './time.ts'

export interface Read extends PlacedRow {
  /** Where the first unreadable frame is; undefined while all frames could be read. */
  readonly unread: string | undefined
}

export interface ReadingLimits {
  /** At most this many rows wait for the first time of the recording. */
  readonly mostWaiting?: number
  /** As in `DecoderOptions`. */
  readonly history?: number
}

/** Frames after which a dialect is detected, and after which a recording without one is refused. */
const enough = 3
const tooMany = 50

/**
 * Text to rows, without waiting for anything: the rows of a chunk are returned together, because to await each of them
 * costs more than to read it.
 */
export class RecordingReader {
  readonly #source: FrameSource = frameSource()
  readonly #clock: RecordingClock
  readonly #options: RecordingOptions
  readonly #history: number | undefined
  #dialect: DialectName | undefined
  #decoder: Decoder | undefined
  /** The state so far, where the file itself says what it is at the end. */
  #state: JsonObject = {}
  #unread: string | undefined
  /** The clock returns rows in the order of their drafts, so the numbers of those that wait are a queue. */
  readonly #numbers: (number | undefined)[] = []
  /** Frames that wait until their dialect is known. */
  #waiting: readonly Placed[] = []

  constructor(options: RecordingOptions, { mostWaiting = 50, history }: ReadingLimits = {}) {
    this.#options = options
    this.#history = history
    this.#dialect = options.from
    this.#clock = recordingClock(options.now, mostWaiting)
    if (options.from !== undefined) dialectNamed(options.from)
  }

  feed(text: string): readonly Read[] {
    const frames = this.#source.feed(text)
    if (frames.length === 0) return none
    // No `push(...frames)`: one chunk may hold more frames than a call can take arguments.
    const waiting = this.#waiting.length === 0 ? frames : [...this.#waiting, ...frames]
    this.#waiting = none
    if (this.#decoder === undefined) {
      const name = this.#named ?? (waiting.length < enough ? undefined : detected(waiting))
      if (name === undefined && waiting.length < tooMany) {
        this.#waiting = waiting
        return none
      }
      this.#open(name ?? unknown(this.#source, waiting))
    }
    const rows: Read[] = []
    this.#push(waiting, rows)
    return rows
  }

  /** The text is over. */
  end(): readonly Read[] {
    const waiting = [...this.#waiting, ...this.#source.end()]
    const decoder = this.#decoder ?? this.#open(this.#named ?? detected(waiting) ?? unknown(this.#source, waiting))
    const rows: Read[] = []
    this.#push(waiting, rows)
    this.#take(decoder.end(this.#source.open ? 'cut' : 'closed'), undefined, rows)
    const left = patchTo(this.#state, this.#source.about.state)
    if (left.length > 0) this.#take([{ run: '', event: { kind: 'state', patch: left } }], undefined, rows)
    this.#out(this.#clock.end(), rows)
    return rows
  }

  /** The text broke off: the rows read so far still get an end, which says so. */
  cut(): readonly Read[] {
    const { from } = this.#options
    if (this.#decoder === undefined && from === undefined) return none
    const decoder = this.#decoder ?? this.#open(from ?? 'millrace')
    const rows: Read[] = []
    this.#take(decoder.end('cut'), undefined, rows)
    this.#out(this.#clock.end(), rows)
    return rows
  }

  get #named(): DialectName | undefined {
    return this.#options.from ?? this.#source.about.dialect
  }

  #open(name: DialectName): Decoder {
    const { run, agent } = this.#options
    this.#dialect = name
    this.#decoder = dialectNamed(name).decoder({
      run,
      // A recording that names no agent has none. The default of a dialect could be the name of an agent that is here.
      agent: agent ?? this.#source.about.agent ?? '',
      // A file of events holds a whole conversation, a stream holds one run of it.
      turns: this.#source.framing !== 'sse',
      ...(this.#history === undefined ? {} : { history: this.#history }),
    })
    return this.#decoder
  }

  #push(frames: readonly Placed[], rows: Read[]): void {
    for (const { frame, number } of frames) {
      const drafts = this.#decoder?.push(frame) ?? []
      if (this.#unread === undefined)
        for (const { event } of drafts) if (event.kind === 'foreign') this.#unread = placeOf(this.#source, number)
      this.#take(drafts, number, rows)
    }
  }

  #take(drafts: readonly Draft[], number: number | undefined, rows: Read[]): void {
    for (const draft of drafts) {
      this.#numbers.push(number)
      this.#out(this.#clock.push(draft), rows)
    }
  }

  #out(made: readonly Recorded[], rows: Read[]): void {
    const { about, framing = 'sse' } = this.#source
    const session = this.#decoder?.session ?? about.session
    for (const row of made) {
      if (about.state !== undefined) this.#state = applyState(this.#state, row.event)
      const number = this.#numbers.shift()
      const dialect = this.#dialect ?? 'millrace'
      rows.push({ row, dialect, session, number, unit: units[framing], unread: this.#unread })
    }
  }
}

const none: readonly never[] = []

function detected(frames: readonly Placed[]): DialectName | undefined {
  return detectDialect(frames.map(({ frame }) => frame))
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
