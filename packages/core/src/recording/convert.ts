import type { Encoder } from '../dialect/dialect.ts'
import type { DialectName } from '../dialect/registry.ts'
import type { Frame } from '../frame/frame.ts'
import { dialectNamed, type RecordingChunks, type RecordingOptions, read } from './recording.ts'

export interface ConvertOptions extends RecordingOptions {
  readonly to: DialectName
  /** The session to print. Default: the one that the wire names, else the run. */
  readonly session?: string
}

/**
 * Rows that may wait for a time. A live stream must not stall: only the start of a run waits, for the event after it.
 */
const mostWaiting = 1

/** Translates one dialect to another through the log: text or bytes go in, SSE frames come out as soon as they are known. */
export async function* convert(chunks: RecordingChunks, options: ConvertOptions): AsyncGenerator<Frame, void> {
  const target = dialectNamed(options.to)
  let encoder: Encoder | undefined
  for await (const { row, session } of read(chunks, options, mostWaiting)) {
    encoder ??= target.encoder({ session: options.session ?? session ?? options.run, echo: true })
    yield* encoder.push(row)
  }
}
