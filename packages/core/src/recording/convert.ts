import type { Encoder } from '../dialect/dialect.ts'
import type { DialectName } from '../dialect/registry.ts'
import type { Frame } from '../frame/frame.ts'
import { dialectNamed, type RecordingOptions, read } from './recording.ts'

export interface ConvertOptions extends RecordingOptions {
  readonly to: DialectName
  /** The session to print; the one the wire names where absent. */
  readonly session?: string
}

/** A live stream must not wait for times: its start is told with the event after it. */
const patience = 1

/** One dialect to another through the log: text in, SSE frames out, as they come. */
export async function* convert(chunks: AsyncIterable<string>, options: ConvertOptions): AsyncGenerator<Frame, void> {
  const target = dialectNamed(options.to)
  let encoder: Encoder | undefined
  for await (const { row, session } of read(chunks, options, patience)) {
    encoder ??= target.encoder({ session: options.session ?? session ?? options.run, echo: true })
    yield* encoder.push(row)
  }
}
