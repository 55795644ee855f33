import type { DialectName } from '../dialect/registry.ts'
import { openRuns } from '../event/open-runs.ts'
import { MillraceError } from '../event/problem.ts'
import type { Recorded } from '../event/run-event.ts'
import { ndjsonReader } from '../frame/ndjson.ts'
import { type ExportReader, exportReader, type ImportLine } from '../log/export-reader.ts'
import { detectDialect } from './detect.ts'
import { detectFraming } from './framing.ts'
import { type RecordingOptions, readChunks, slices } from './recording.ts'

/** What a recording says about itself, known at its end. */
export interface AboutRecording {
  readonly dialect: DialectName
  /** The agent of its first run; empty when the recording names none. */
  readonly agent: string
  /** An export of a session has them. */
  readonly title?: string
  readonly forkOf?: { readonly session: string; readonly seq: number }
}

/** A recording that was read to its end. */
export interface Recording extends AboutRecording {
  readonly rows: readonly Recorded[]
}

/** The same limit as for the import of a session export. */
const mostRows = 1_000_000

/**
 * Reads a whole recording, as the server does to store it and the page to show it. Frames that cannot be read are kept
 * beside those that can (SPEC 3.3). A run without an end is ended as `cut`, at the time of the last event. A recording
 * in which no frame can be read is `invalid`: the error names the dialect and the first bad frame. An export of a
 * session keeps its sequence numbers, and one bad line of it is `invalid` (SPEC 2.10).
 */
export async function wholeRecording(text: string, options: RecordingOptions): Promise<Recording> {
  const rows: Recorded[] = []
  const reading = recordingRows(text, options)
  for (;;) {
    const { done, value } = await reading.next()
    if (done === true) return { ...value, rows }
    rows.push(value)
  }
}

/** The same, row by row, for a reader that keeps no rows. The recording is valid only if this ends without an error. */
export async function* recordingRows(
  text: string,
  options: RecordingOptions,
): AsyncGenerator<Recorded, AboutRecording, undefined> {
  if (detectFraming(text) === 'lines' && (options.from ?? detectDialect(text)) === 'millrace')
    return yield* exported(text, options.pause)
  const open = openRuns()
  let detected: DialectName | undefined = options.from
  let agent = ''
  let count = 0
  let understood = 0
  let wrong: { readonly place: string; readonly reason: string } | undefined
  for await (const rows of readChunks(slices(text, options.pause), options)) {
    for (const { row, dialect, unread } of rows) {
      if (count >= mostRows)
        throw new MillraceError('limit', `this recording has more than ${mostRows} events: split it into several`)
      detected = dialect
      count += 1
      open.push(row)
      const { event } = row
      if (event.kind === 'foreign') wrong ??= { place: unread ?? 'the end', reason: event.reason }
      else if (!event.kind.startsWith('run.')) understood += 1
      if (agent === '') agent = agentNamedIn(row, dialect)
      yield row
    }
  }
  if (detected === undefined || count === 0) throw new MillraceError('invalid', 'this recording has no events')
  if (understood === 0 && wrong !== undefined) {
    const { place, reason } = wrong
    const facts = { dialect: detected, place, reason }
    throw new MillraceError(
      'invalid',
      `this was read as ${detected}, but no event in it is valid; ${place}: ${reason}`,
      facts,
    )
  }
  yield* open.cutEnds()
  return { dialect: detected, agent }
}

async function* exported(
  text: string,
  pause: RecordingOptions['pause'],
): AsyncGenerator<Recorded, AboutRecording, undefined> {
  const lines = ndjsonReader()
  const reader = exportReader()
  for await (const piece of slices(text, pause)) yield* rowsOf(reader, lines.feed(piece))
  yield* rowsOf(reader, lines.end())
  const { ends, ...session } = reader.end()
  yield* ends
  return { dialect: 'millrace', ...session }
}

function* rowsOf(reader: ExportReader, lines: Iterable<ImportLine>): Generator<Recorded, void> {
  for (const line of lines) {
    const row = reader.push(line)
    if (row !== undefined) yield row
  }
}

/** On AG-UI's wire an author is a subagent, or the role `assistant`: neither is the name of the agent that ran. */
function agentNamedIn({ event }: Recorded, dialect: DialectName): string {
  if (event.kind === 'run.started') return event.agent
  return event.kind === 'agent' && dialect !== 'ag-ui' && event.event.author !== 'user' ? event.event.author : ''
}
