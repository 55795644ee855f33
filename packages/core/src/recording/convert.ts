import type { Dialect, Encoder } from '../dialect/dialect.ts'
import type { DialectName } from '../dialect/registry.ts'
import type { Recorded } from '../event/run-event.ts'
import type { Frame } from '../frame/frame.ts'
import { dialectNamed, RecordingReader } from './reader.ts'
import { type RecordingChunks, type RecordingOptions, readings } from './recording.ts'
import type { RowTaker } from './time.ts'

export interface ConvertOptions extends RecordingOptions {
  readonly to: DialectName
  /** The session to print. Default: the one that the wire names, else the run. */
  readonly session?: string
}

/**
 * Rows that may wait for a time. A live stream must not stall: only the start of a run waits, for the event after it.
 */
const mostWaiting = 1
/**
 * Characters. A snapshot of AG-UI may change any message, so the conversation is held, but no more of it than about
 * half a million tokens: a stream without end takes no more memory than that.
 */
const history = 2 ** 21

/** Translates one dialect to another through the log: text or bytes go in, SSE frames come out as soon as they are known. */
export async function* convert(chunks: RecordingChunks, options: ConvertOptions): AsyncGenerator<Frame, void> {
  for await (const frames of convertChunks(chunks, options)) for (const frame of frames) yield frame
}

/** As `convert`, but with the frames of each chunk together: awaiting each frame costs more than making it. */
export async function* convertChunks(
  chunks: RecordingChunks,
  options: ConvertOptions,
): AsyncGenerator<readonly Frame[], void> {
  const conversion = new Conversion(options)
  for await (const _ of readings(conversion.reader, chunks)) {
    const frames = conversion.take()
    if (frames.length > 0) yield frames
  }
}

class Conversion implements RowTaker {
  readonly reader: RecordingReader
  readonly #options: ConvertOptions
  readonly #target: Dialect
  #encoder: Encoder | undefined
  #frames: Frame[] = []

  constructor(options: ConvertOptions) {
    this.#options = options
    this.#target = dialectNamed(options.to)
    this.reader = new RecordingReader(options, this, { mostWaiting, history })
  }

  /** The frames made since the last call. */
  take(): readonly Frame[] {
    const made = this.#frames
    this.#frames = []
    return made
  }

  takeRow(row: Recorded): void {
    this.#encoder ??= this.#open()
    for (const frame of this.#encoder.push(row)) this.#frames.push(frame)
  }

  #open(): Encoder {
    const { session = this.reader.session, run } = this.#options
    return this.#target.encoder({ session: session ?? run, echo: true, history })
  }
}
