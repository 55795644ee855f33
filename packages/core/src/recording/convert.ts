import type { Encoder } from '../dialect/dialect.ts'
import type { DialectName } from '../dialect/registry.ts'
import type { Frame } from '../frame/frame.ts'
import { dialectNamed } from './reader.ts'
import { type RecordingChunks, type RecordingOptions, readChunks } from './recording.ts'

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

/** As `convert`, the frames of each chunk together: to await each frame by itself would cost more than to make it. */
export async function* convertChunks(
  chunks: RecordingChunks,
  options: ConvertOptions,
): AsyncGenerator<readonly Frame[], void> {
  const target = dialectNamed(options.to)
  let encoder: Encoder | undefined
  for await (const rows of readChunks(chunks, options, { mostWaiting, history })) {
    const frames: Frame[] = []
    for (const { row, session } of rows) {
      encoder ??= target.encoder({ session: options.session ?? session ?? options.run, echo: true, history })
      for (const frame of encoder.push(row)) frames.push(frame)
    }
    if (frames.length > 0) yield frames
  }
}
