import { MillraceError } from '../event/problem.ts'
import type { Draft, Recorded } from '../event/run-event.ts'
import type { Frame } from '../frame/frame.ts'
import { ndjsonReader } from '../frame/ndjson.ts'
import { sseReader } from '../frame/sse.ts'
import { isJsonObject, parseJson } from '../json/json.ts'
import { detectDialect, detectFraming } from './detect.ts'
import type { Decoder, Dialect, DialectName, Encoder } from './dialect.ts'
import { dialects } from './registry.ts'

export interface RecordingOptions {
  /** The dialect of the text; told from its first frames where absent. */
  readonly from?: DialectName
  /** The run that frames belong to until the wire names one itself. */
  readonly run: string
  readonly agent?: string
  /** When the log takes an event, for those whose wire does not say. */
  readonly now: () => number
}

export interface ConvertOptions extends RecordingOptions {
  readonly to: DialectName
  /** The session to print; the one the wire names where absent. */
  readonly session?: string
}

/** One dialect to another through the log: text in, SSE frames out, as they come. */
export async function* convert(chunks: AsyncIterable<string>, options: ConvertOptions): AsyncGenerator<Frame, void> {
  const target = dialect(options.to)
  let encoder: Encoder | undefined
  for await (const { row, session } of read(chunks, options)) {
    encoder ??= target.encoder({ session: options.session ?? session ?? options.run, echo: true })
    yield* encoder.push(row)
  }
}

/** A recorded or live stream of any dialect, SSE or lines, as the rows of a log. */
export async function* readRecording(
  chunks: AsyncIterable<string>,
  options: RecordingOptions,
): AsyncGenerator<Recorded, void> {
  for await (const { row } of read(chunks, options)) yield row
}

interface Read {
  readonly row: Recorded
  readonly session: string | undefined
}

/** Enough frames to tell a dialect by, and how many may pass without a sign of one. */
const enough = 3
const tooMany = 50

async function* read(
  chunks: AsyncIterable<string>,
  { from, run, agent, now }: RecordingOptions,
): AsyncGenerator<Read, void> {
  const source = frameSource()
  const open = (name: DialectName | undefined): Decoder => {
    if (name === undefined) throw new MillraceError('invalid', 'no dialect speaks like this', { run })
    return dialect(name).decoder({ run, ...(agent === undefined ? {} : { agent }) })
  }
  let decoder = from === undefined ? undefined : open(from)
  let held: readonly Frame[] = []
  let seq = 0
  const rows = function* (drafts: readonly Draft[]): Generator<Read, void> {
    for (const { run, event, at = now(), seq: own = seq + 1 } of drafts) {
      seq = own
      yield { row: { seq, at, run, event }, session: decoder?.session ?? source.session }
    }
  }
  try {
    for await (const chunk of chunks) {
      const frames = source.feed(chunk)
      if (frames.length === 0) continue
      // Not spread into a call: a recording may come as one chunk of more frames than a call takes arguments.
      held = held.length === 0 ? frames : [...held, ...frames]
      if (decoder === undefined) {
        const name = held.length < enough ? undefined : detectDialect(held)
        if (name === undefined && held.length < tooMany) continue
        decoder = open(name)
      }
      for (const frame of held) yield* rows(decoder.push(frame))
      held = []
    }
  } catch (error) {
    // The reader of what came so far still gets an end that says so.
    if (decoder !== undefined) yield* rows(decoder.end('cut'))
    throw error
  }
  held = [...held, ...source.end()]
  decoder ??= open(detectDialect(held))
  for (const frame of held) yield* rows(decoder.push(frame))
  yield* rows(decoder.end(source.open ? 'cut' : 'closed'))
}

function dialect(name: DialectName): Dialect {
  if (Object.hasOwn(dialects, name)) return dialects[name]
  throw new MillraceError('invalid', `no dialect ${name}`, { dialect: name })
}

interface FrameSource {
  feed(chunk: string): readonly Frame[]
  end(): readonly Frame[]
  /** The text stopped inside a frame. */
  readonly open: boolean
  /** The session that an export names in its header. */
  readonly session: string | undefined
}

/** SSE, or lines of JSON: the first character tells. */
function frameSource(): FrameSource {
  const sse = sseReader()
  const lines = ndjsonReader()
  let framing: 'sse' | 'lines' | undefined
  let session: string | undefined
  let first = true
  const frameOf = ({ text, truncated }: { readonly text: string; readonly truncated?: true }): readonly Frame[] => {
    const header = first ? headerOf(text) : undefined
    first = false
    if (header === undefined) return [{ data: text, ...(truncated === undefined ? {} : { truncated }) }]
    session = header.session
    return []
  }
  return {
    feed(chunk) {
      if (framing === undefined && /[^\uFEFF\s]/.test(chunk)) framing = detectFraming(chunk)
      return framing === 'lines' ? lines.feed(chunk).flatMap(frameOf) : sse.feed(chunk)
    },
    end: () => (framing === 'lines' ? lines.end().flatMap(frameOf) : []),
    get open() {
      return framing === 'sse' && sse.open
    },
    get session() {
      return session
    },
  }
}

/** The first line of a session export: about the rows, not one of them. */
function headerOf(line: string): { readonly session: string | undefined } | undefined {
  const parsed = parseJson(line)
  if ('reason' in parsed || !isJsonObject(parsed.value) || parsed.value.format !== 'millrace.session') return undefined
  const { session } = parsed.value
  const id = isJsonObject(session) ? session.id : undefined
  return { session: typeof id === 'string' ? id : undefined }
}
