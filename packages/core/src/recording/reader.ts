import type { Decoder, Dialect } from '../dialect/dialect.ts'
import { type DialectName, dialectNames, dialects } from '../dialect/registry.ts'
import { MillraceError } from '../event/problem.ts'
import type { Draft, Recorded } from '../event/run-event.ts'
import { applyState } from '../event/state-fold.ts'
import type { Frame } from '../frame/frame.ts'
import { maxFrameSize } from '../frame/sse.ts'
import { type JsonObject, type PatchOp, parseJson, sameJson } from '../json/json.ts'
import { pointerSegment } from '../json/pointer.ts'
import { detectDialect } from './detect.ts'
import { type FrameSource, type FrameTaker, frameSource } from './frames.ts'
import type { Framing } from './framing.ts'
import type { FrameUnit, RecordingOptions } from './recording.ts'
import { RecordingClock, type RowTaker } from './time.ts'

export interface ReadingLimits {
  /** At most this many rows wait for the first time of the recording. */
  readonly mostWaiting?: number
  /** As in `DecoderOptions`. */
  readonly history?: number
}

/** Frames after which a dialect is detected, and after which a recording without one is refused. */
const enough = 3
const tooMany = 50

/** Text to rows, without waiting for anything: each row is passed on as soon as it is known. */
export class RecordingReader implements FrameTaker, RowTaker {
  readonly #source: FrameSource = frameSource(this)
  readonly #taker: RowTaker
  readonly #clock: RecordingClock
  readonly #options: RecordingOptions
  readonly #history: number | undefined
  #dialect: DialectName | undefined
  #decoder: Decoder | undefined
  /** The state so far, where the file itself says what it is at the end. */
  #state: JsonObject = {}
  #unread: string | undefined
  /** Frames that wait until their dialect is known. */
  #waiting: { readonly frame: Frame; readonly number: number }[] = []

  constructor(options: RecordingOptions, taker: RowTaker, { mostWaiting = 50, history }: ReadingLimits = {}) {
    this.#options = options
    this.#history = history
    this.#dialect = options.from
    this.#taker = taker
    this.#clock = new RecordingClock(options.now, mostWaiting, this)
    if (options.from !== undefined) dialectNamed(options.from)
  }

  /** What is known at this point about the recording. */
  get dialect(): DialectName {
    return this.#dialect ?? 'millrace'
  }
  get session(): string | undefined {
    return this.#decoder?.session ?? this.#source.about.session
  }
  get unit(): FrameUnit {
    return unitOf(this.#source)
  }
  /** Where the first unreadable frame is; undefined while all frames could be read. */
  get unread(): string | undefined {
    return this.#unread
  }

  feed(text: string): void {
    this.#source.feed(text)
    if (this.#waiting.length === 0) return
    const name = this.#named ?? (this.#waiting.length < enough ? undefined : this.#detected)
    if (name === undefined && this.#waiting.length < tooMany) return
    this.#open(name ?? this.#unknown())
  }

  /** The text is over. */
  end(): void {
    this.#source.end()
    const decoder = this.#decoder ?? this.#open(this.#named ?? this.#detected ?? this.#unknown())
    this.#take(decoder.end(this.#source.open ? 'cut' : 'closed'), undefined)
    const left = patchTo(this.#state, this.#source.about.state)
    if (left.length > 0) this.#take([{ run: '', event: { kind: 'state', patch: left } }], undefined)
    this.#clock.end()
  }

  /** The text broke off: the rows read so far still get an end, which says so. */
  cut(): void {
    const { from } = this.#options
    if (this.#decoder === undefined && from === undefined) return
    const decoder = this.#decoder ?? this.#open(from ?? 'millrace')
    this.#take(decoder.end('cut'), undefined)
    this.#clock.end()
  }

  get #named(): DialectName | undefined {
    return this.#options.from ?? this.#source.about.dialect
  }
  get #detected(): DialectName | undefined {
    return detectDialect(this.#waiting.map(({ frame }) => frame))
  }

  /** The dialect is known: the frames that waited for it are read. */
  #open(name: DialectName): Decoder {
    const { run, agent } = this.#options
    this.#dialect = name
    const decoder = dialectNamed(name).decoder({
      run,
      // A recording that names no agent has none. The default of a dialect could be the name of an agent that is here.
      agent: agent ?? this.#source.about.agent ?? '',
      // A file of events holds a whole conversation, a stream holds one run of it.
      turns: this.#source.framing !== 'sse',
      ...(this.#history === undefined ? {} : { history: this.#history }),
    })
    this.#decoder = decoder
    const waited = this.#waiting
    this.#waiting = []
    for (const { frame, number } of waited) this.#take(decoder.push(frame), number)
    return decoder
  }

  takeRow(row: Recorded, number: number | undefined): void {
    if (this.#source.about.state !== undefined) this.#state = applyState(this.#state, row.event)
    this.#taker.takeRow(row, number)
  }

  takeFrame(frame: Frame, number: number): void {
    if (this.#decoder === undefined) this.#waiting.push({ frame, number })
    else this.#take(this.#decoder.push(frame), number)
  }

  #take(drafts: readonly Draft[], number: number | undefined): void {
    for (const draft of drafts) {
      if (draft.event.kind === 'foreign' && number !== undefined) this.#unread ??= `${this.unit} ${number}`
      this.#clock.push(draft, number)
    }
  }

  /** Refuses frames that no dialect recognises, and says what is wrong with the first. */
  #unknown(): never {
    const [first] = this.#waiting.filter(({ frame }) => frame.data !== '')
    if (first === undefined) {
      const isStream = this.#source.framing === 'sse'
      const what = isStream ? 'this is neither JSON nor an event stream' : 'this recording has no events'
      throw new MillraceError('invalid', what)
    }
    const place = `${this.unit} ${first.number}`
    const isCut = first.frame.truncated === true
    const parsed = isCut ? { reason: `longer than ${maxFrameSize / 1024 ** 2} MB` } : parseJson(first.frame.data)
    const reason = 'reason' in parsed ? parsed.reason : 'JSON, but no event of a known dialect'
    throw new MillraceError('invalid', `this is not a stream format that Millrace knows; ${place}: ${reason}`, {
      place,
      reason,
    })
  }
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

function unitOf({ framing = 'sse' }: FrameSource): FrameUnit {
  return units[framing]
}
