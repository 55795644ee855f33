import type { DialectName } from '../dialect/registry.ts'
import { MillraceError } from '../event/problem.ts'
import type { Recorded } from '../event/run-event.ts'
import { type RecordingOptions, read } from './recording.ts'

/** A recording that was read to its end. */
export interface Recording {
  readonly dialect: DialectName
  /** The agent of its first run; empty where nothing names one. */
  readonly agent: string
  readonly rows: readonly Recorded[]
}

/** As many as an import of an export takes. */
const mostRows = 1_000_000
const piece = 256 * 1024

/**
 * A whole recording, for keeping it as a session. Frames that cannot be read are kept beside those that can (SPEC 3.3);
 * a recording without one that can is `invalid`, and the error says what it was taken for and what is wrong with which
 * frame.
 */
export async function wholeRecording(text: string, options: RecordingOptions): Promise<Recording> {
  const rows: Recorded[] = []
  let taken: DialectName | undefined = options.from
  let agent = ''
  let understood = 0
  let wrong: { readonly place: string; readonly reason: string } | undefined
  for await (const { row, dialect, place } of read(slices(text), options)) {
    if (rows.length >= mostRows)
      throw new MillraceError('limit', `more than ${mostRows} events, too many for a session`)
    taken = dialect
    rows.push(row)
    const { event } = row
    if (event.kind === 'foreign') wrong ??= { place: place ?? 'the end', reason: event.reason }
    else if (!event.kind.startsWith('run.')) understood += 1
    if (agent === '') agent = namedIn(row)
  }
  if (taken === undefined || rows.length === 0) throw new MillraceError('invalid', 'there is no event in it')
  if (understood === 0 && wrong !== undefined) {
    const { place, reason } = wrong
    const facts = { dialect: taken, place, reason }
    throw new MillraceError('invalid', `taken for ${taken}, and nothing in it can be read; ${place}: ${reason}`, facts)
  }
  return { dialect: taken, agent, rows }
}

function namedIn({ event }: Recorded): string {
  if (event.kind === 'run.started') return event.agent
  return event.kind === 'agent' && event.event.author !== 'user' ? event.event.author : ''
}

/** In pieces, so that the frames of a long text are not all there at once. */
async function* slices(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += piece) yield text.slice(at, at + piece)
}
