import type { DialectName } from '../dialect/registry.ts'
import type { Recorded } from '../event/run-event.ts'
import { utf8Reader } from '../frame/utf8.ts'
import { RecordingReader } from './reader.ts'

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

/** A long text is read in pieces of this many characters, so that its rows are not all in memory at once. */
const pieceSize = 16 * 1024

/** Reads a recorded or live stream, of any dialect and framing, as the rows of a log, each as soon as it is known. */
export async function* readRecording(
  chunks: RecordingChunks,
  options: RecordingOptions,
): AsyncGenerator<Recorded, void> {
  for await (const rows of readChunks(chunks, options)) for (const { row } of rows) yield row
}

/** As `readRecording`, each row with the frame that it was read from: for a linter, whose reader looks at the file. */
export async function* placedRecording(
  chunks: RecordingChunks,
  options: RecordingOptions,
): AsyncGenerator<PlacedRow, void> {
  for await (const rows of readChunks(chunks, options))
    for (const { row, dialect, session, number, unit } of rows) yield { row, dialect, session, number, unit }
}

export interface Read extends PlacedRow {
  /** Where the first unreadable frame is; undefined while all frames could be read. */
  readonly unread: string | undefined
}

/** As `readRecording`, but with the rows of each chunk together: awaiting each row costs more than reading it. */
export async function* readChunks(
  chunks: RecordingChunks,
  options: RecordingOptions,
): AsyncGenerator<readonly Read[], void> {
  let rows: Read[] = []
  const reader = new RecordingReader(options, {
    takeRow(row, number) {
      const { dialect, session, unit, unread } = reader
      rows.push({ row, dialect, session, number, unit, unread })
    },
  })
  for await (const _ of readings(reader, chunks)) {
    if (rows.length > 0) yield rows
    rows = []
  }
}

/** Reads chunk by chunk, and yields after each, so that its rows can be passed on. */
export async function* readings(reader: RecordingReader, chunks: RecordingChunks): AsyncGenerator<void, void> {
  try {
    for await (const text of textsOf(chunks)) {
      reader.feed(text)
      yield
    }
  } catch (error) {
    reader.cut()
    yield
    throw error
  }
  reader.end()
  yield
}

async function* textsOf(chunks: RecordingChunks): AsyncGenerator<string, void> {
  const utf8 = utf8Reader()
  const all = typeof chunks === 'string' || chunks instanceof Uint8Array ? [chunks] : chunks
  for await (const chunk of all) yield* slices(typeof chunk === 'string' ? chunk : utf8.feed(chunk))
  const rest = utf8.end()
  if (rest !== '') yield rest
}

/** A long text in pieces; `pause` is called between them. */
export async function* slices(text: string, pause?: RecordingOptions['pause']): AsyncGenerator<string, void> {
  for (let at = 0; at < text.length; at += pieceSize) {
    if (at > 0) await pause?.()
    yield text.slice(at, at + pieceSize)
  }
}
