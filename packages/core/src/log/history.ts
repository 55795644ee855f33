import { parseRecorded } from '../event/guard.ts'
import { endsOfCutRuns, endsOfOpenRuns } from '../event/open-runs.ts'
import { MillraceError } from '../event/problem.ts'
import type { Recorded } from '../event/run-event.ts'
import { isObject, parseJson } from '../json/json.ts'
import { jsonNodes } from '../json/json-nodes.ts'
import type { EventLog, NewSession, ReadOptions, SessionInfo } from './event-log.ts'

/** The first line of an export. The version changes when an older Millrace could no longer read the lines. */
export interface ExportHeader {
  readonly format: 'millrace.session'
  readonly version: 1
  readonly session: SessionInfo
}

const format = 'millrace.session'
const version = 1
const page = 500
/** Imported names appear in every list of sessions, so they are bounded like the names that a client sends. */
const longestName = 1000
/** A log reads the whole session to make one brief page, so brief pages are large and few. */
const briefPage = 20_000

/**
 * A session as JSONL (SPEC 2.10): the header, then one Recorded per line, without the line ends. Rows that are appended
 * meanwhile are left out. It reads a page of rows at a time, so memory is bounded. `brief`: see ReadOptions.
 */
export async function* exportSession(
  log: EventLog,
  session: string,
  { brief = false }: Pick<ReadOptions, 'brief'> = {},
): AsyncGenerator<string, void> {
  const info = await mustGet(log, session)
  const header: ExportHeader = { format, version, session: info }
  yield JSON.stringify(header)
  let after = 0
  while (after < info.lastSeq) {
    const rows = await lines(log, session, brief ? { after, limit: briefPage, brief } : { after, limit: page })
    for (const { seq, line } of rows) if (seq <= info.lastSeq) yield line
    after = rows.at(-1)?.seq ?? info.lastSeq
  }
}

/** Uses the stored text if the log has it, so that nothing is parsed and printed again. */
async function lines(
  log: EventLog,
  session: string,
  options: ReadOptions,
): Promise<readonly { seq: number; line: string }[]> {
  if (log.readRaw === undefined) {
    return (await log.read(session, options)).map((row) => ({ seq: row.seq, line: JSON.stringify(row) }))
  }
  return (await log.readRaw(session, options)).map(({ seq, at, run, body }) => ({
    seq,
    line: `{"seq":${seq},"at":${at},"run":${JSON.stringify(run)},"event":${body}}`,
  }))
}

/** Id and owner of the imported session. Agent and title are by default those of the exported one. */
export type ImportAs = Pick<NewSession, 'id' | 'user'> & Partial<Pick<NewSession, 'agent' | 'title'>>

/** A line from `ndjsonReader`: numbered from 1, blank lines left out, a line that is too long marked. */
export interface ImportLine {
  readonly number: number
  readonly text: string
  readonly truncated?: boolean
}

/** All rows are held in memory until the last line has been checked, so their number and size are bounded. */
export interface ImportLimits {
  /** By default 1,000,000. */
  readonly rows?: number
  /** Characters of all lines together; by default 2^28. */
  readonly text?: number
  /** Values in all lines together: objects, lists and what is in them; by default 2^24. */
  readonly nodes?: number
}

/**
 * Creates a session from an export, with the same seqs, times, runs and events. A run that it leaves open is ended as
 * `cut`. If one line is bad, nothing is written and the error is `invalid` (or `limit`) with `facts.line`.
 */
export async function importSession(
  log: EventLog,
  lines: Iterable<ImportLine> | AsyncIterable<ImportLine>,
  as: ImportAs,
  limits: ImportLimits = {},
): Promise<SessionInfo> {
  const { rows: maxRows = 1_000_000, text: maxText = 2 ** 28, nodes: maxNodes = 2 ** 24 } = limits
  const rows: Recorded[] = []
  let header: Pick<NewSession, 'agent' | 'title' | 'forkOf'> | undefined
  let size = 0
  let nodes = 0
  for await (const { number, text, truncated } of lines) {
    size += text.length
    nodes += jsonNodes(text)
    if (truncated === true || size > maxText || nodes > maxNodes || rows.length >= maxRows) {
      throw new MillraceError(
        'limit',
        `line ${number}: the import is larger than the limit; import fewer or shorter lines`,
        { line: number },
      )
    }
    if (header === undefined) header = readHeader(text, number)
    else rows.push(readRow(text, number, rows.at(-1)?.seq ?? 0))
  }
  if (header === undefined) throw badLine(1, 'the file has no header line')
  return log.restore({ ...header, ...as }, [...rows, ...endsOfCutRuns(rows)])
}

function readHeader(raw: string, line: number): Pick<NewSession, 'agent' | 'title' | 'forkOf'> {
  const parsed = parseJson(raw)
  if ('reason' in parsed) throw badLine(line, parsed.reason)
  const { value } = parsed
  if (!isObject(value) || value.format !== format) throw badLine(line, 'not the header of a session export')
  if (value.version !== version)
    throw badLine(line, `the export has version ${String(value.version)}, but this Millrace reads version ${version}`)
  const session = isObject(value.session) ? value.session : {}
  const { agent, title, forkOf } = session
  if (typeof agent !== 'string' || typeof title !== 'string')
    throw badLine(line, 'session: agent and title must be strings')
  if (agent.length > longestName || title.length > longestName)
    throw badLine(line, `session: agent and title must have at most ${longestName} characters`)
  if (!isObject(forkOf) || typeof forkOf.session !== 'string' || typeof forkOf.seq !== 'number') return { agent, title }
  if (forkOf.session.length > longestName || !Number.isSafeInteger(forkOf.seq))
    throw badLine(line, 'session: forkOf is not a session id and a seq')
  return { agent, title, forkOf: { session: forkOf.session, seq: forkOf.seq } }
}

function readRow(raw: string, line: number, last: number): Recorded {
  const parsed = parseRecorded(raw)
  if ('reason' in parsed) throw badLine(line, parsed.reason)
  const { recorded } = parsed
  if (recorded.seq <= last) throw badLine(line, `seq ${recorded.seq} must be greater than ${last}, the one before`)
  return recorded
}

function badLine(line: number, reason: string): MillraceError {
  return new MillraceError('invalid', `line ${line}: ${reason}`, { line, reason })
}

/**
 * A new session that begins as a copy of `source` up to and including `seq`. A run that is open there is ended as
 * `cancelled`, because nothing executes it in the new session (SPEC 4.1, 4.4).
 */
export async function forkSession(log: EventLog, source: string, seq: number, id: string): Promise<SessionInfo> {
  const { user, agent, title, lastSeq } = await mustGet(log, source)
  if (!Number.isSafeInteger(seq) || seq < 0 || seq > lastSeq) {
    throw new MillraceError(
      'invalid',
      `cannot fork at seq ${seq}: it must be between 0 and ${lastSeq}, the last seq of session ${source}`,
      { session: source, seq, lastSeq },
    )
  }
  const rows: Recorded[] = []
  for (let after = 0; after < seq; ) {
    const read = await log.read(source, { after, limit: page })
    for (const row of read) if (row.seq <= seq) rows.push(row)
    after = read.at(-1)?.seq ?? seq
  }
  const error = { code: 'cancelled', message: `the session was forked at ${seq}` } as const
  const ends = endsOfOpenRuns(rows, {
    after: seq,
    node: { status: 'error', error },
    run: { outcome: 'cancelled', error },
  })
  return log.restore({ id, user, agent, title, forkOf: { session: source, seq } }, [...rows, ...ends])
}

async function mustGet(log: EventLog, session: string): Promise<SessionInfo> {
  const info = await log.get(session)
  if (info === undefined) throw new MillraceError('not-found', `no session ${session}`, { session })
  return info
}
