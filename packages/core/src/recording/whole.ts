import type { DialectName } from '../dialect/registry.ts'
import { endsOfCutRuns } from '../event/open-runs.ts'
import { MillraceError } from '../event/problem.ts'
import type { Recorded } from '../event/run-event.ts'
import { ndjsonReader } from '../frame/ndjson.ts'
import { exportReader } from '../log/export-reader.ts'
import { detectDialect } from './detect.ts'
import { detectFraming } from './framing.ts'
import { type RecordingOptions, read } from './recording.ts'

/** A recording that was read to its end. */
export interface Recording {
  readonly dialect: DialectName
  /** The agent of its first run; empty when the recording names none. */
  readonly agent: string
  /** An export of a session has them. */
  readonly title?: string
  readonly forkOf?: { readonly session: string; readonly seq: number }
  readonly rows: readonly Recorded[]
}

/** The same limit as for the import of a session export. */
const mostRows = 1_000_000
/** Characters that are read at a time. */
const pieceSize = 128 * 1024

/**
 * Reads a whole recording, as the server does to store it and the page to show it. Frames that cannot be read are kept
 * beside those that can (SPEC 3.3). A run without an end is ended as `cut`, at the time of the last event. A recording
 * in which no frame can be read is `invalid`: the error names the dialect and the first bad frame. An export of a
 * session keeps its sequence numbers, and one bad line of it is `invalid` (SPEC 2.10).
 */
export async function wholeRecording(text: string, options: RecordingOptions): Promise<Recording> {
  if (detectFraming(text) === 'lines' && (options.from ?? detectDialect(text)) === 'millrace')
    return exported(text, options.pause)
  const rows: Recorded[] = []
  let detected: DialectName | undefined = options.from
  let agent = ''
  let understood = 0
  let wrong: { readonly place: string; readonly reason: string } | undefined
  for await (const { row, dialect, unread } of read(slices(text, options.pause), options)) {
    if (rows.length >= mostRows)
      throw new MillraceError('limit', `this recording has more than ${mostRows} events: split it into several`)
    detected = dialect
    rows.push(row)
    const { event } = row
    if (event.kind === 'foreign') wrong ??= { place: unread ?? 'the end', reason: event.reason }
    else if (!event.kind.startsWith('run.')) understood += 1
    if (agent === '') agent = agentNamedIn(row, dialect)
  }
  if (detected === undefined || rows.length === 0) throw new MillraceError('invalid', 'this recording has no events')
  if (understood === 0 && wrong !== undefined) {
    const { place, reason } = wrong
    const facts = { dialect: detected, place, reason }
    throw new MillraceError(
      'invalid',
      `this was read as ${detected}, but no event in it is valid; ${place}: ${reason}`,
      facts,
    )
  }
  for (const end of endsOfCutRuns(rows)) rows.push(end)
  return { dialect: detected, agent, rows }
}

async function exported(text: string, pause: RecordingOptions['pause']): Promise<Recording> {
  const lines = ndjsonReader()
  const reader = exportReader()
  for await (const piece of slices(text, pause)) for (const line of lines.feed(piece)) reader.push(line)
  for (const line of lines.end()) reader.push(line)
  return { dialect: 'millrace', ...reader.end() }
}

/** On AG-UI's wire an author is a subagent, or the role `assistant`: neither is the name of the agent that ran. */
function agentNamedIn({ event }: Recorded, dialect: DialectName): string {
  if (event.kind === 'run.started') return event.agent
  return event.kind === 'agent' && dialect !== 'ag-ui' && event.event.author !== 'user' ? event.event.author : ''
}

/** Cuts a long text, so that its frames are not all in memory at once. */
async function* slices(text: string, pause: RecordingOptions['pause']): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += pieceSize) {
    if (at > 0) await pause?.()
    yield text.slice(at, at + pieceSize)
  }
}
