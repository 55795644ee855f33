import { endsOfOpenRuns } from '../event/open-runs.ts'
import { MillraceError } from '../event/problem.ts'
import type { Recorded } from '../event/run-event.ts'
import type { EventLog, NewSession, ReadOptions, SessionInfo } from './event-log.ts'
import {
  type ExportHeader,
  exportFormat,
  exportReader,
  exportVersion,
  type ImportLimits,
  type ImportLine,
} from './export-reader.ts'

const page = 500
/** A log reads the whole session to make one brief page, so brief pages are large and few. */
const briefPage = 20_000

/**
 * A session as JSONL (SPEC 2.10): the header, then one Recorded per line, without the line ends. Rows that are appended
 * meanwhile are left out. It reads a page of rows at a time, so memory is bounded. `brief`: see ReadOptions.
 */
export async function* exportSession(
  log: Pick<EventLog, 'get' | 'read' | 'readRaw'>,
  session: string,
  { brief = false }: Pick<ReadOptions, 'brief'> = {},
): AsyncGenerator<string, void> {
  const info = await mustGet(log, session)
  const header: ExportHeader = { format: exportFormat, version: exportVersion, session: info }
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
  log: Pick<EventLog, 'read' | 'readRaw'>,
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

/**
 * Creates a session from an export, with the same seqs, times, runs and events. A run that it leaves open is ended as
 * `cut`. If one line is bad, nothing is written and the error is `invalid` (or `limit`) with `facts.line`.
 */
export async function importSession(
  log: Pick<EventLog, 'restore'>,
  lines: Iterable<ImportLine> | AsyncIterable<ImportLine>,
  as: ImportAs,
  limits: ImportLimits = {},
): Promise<SessionInfo> {
  const reader = exportReader(limits)
  const rows: Recorded[] = []
  for await (const line of lines) {
    const row = reader.push(line)
    if (row !== undefined) rows.push(row)
  }
  const { ends, ...session } = reader.end()
  return log.restore({ ...session, ...as }, [...rows, ...ends])
}

/**
 * A new session that begins as a copy of `source` up to and including `seq`. A run that is open there is ended as
 * `cancelled`, because nothing executes it in the new session (SPEC 4.1, 4.4).
 */
export async function forkSession(
  log: Pick<EventLog, 'get' | 'read' | 'restore' | 'fork' | 'facts'>,
  source: string,
  seq: number,
  id: string,
): Promise<SessionInfo> {
  const { user, agent, title, lastSeq } = await mustGet(log, source)
  if (!Number.isSafeInteger(seq) || seq < 0 || seq > lastSeq) {
    throw new MillraceError(
      'invalid',
      `cannot fork at seq ${seq}: it must be between 0 and ${lastSeq}, the last seq of session ${source}`,
      { session: source, seq, lastSeq },
    )
  }
  // Where the rows are shared, only those of a run that is open are read: it must be ended.
  const openRun = log.fork === undefined ? undefined : (await log.facts(source, seq)).openRun
  const isRead = log.fork === undefined || openRun !== undefined
  const rows = isRead ? await rowsBetween(log, source, (openRun?.seq ?? 1) - 1, seq) : []
  const error = { code: 'cancelled', message: `the session was forked at ${seq}` } as const
  const ends = endsOfOpenRuns(rows, {
    after: seq,
    node: { status: 'error', error },
    run: { outcome: 'cancelled', error },
  })
  const fork = { id, user, agent, title, forkOf: { session: source, seq } }
  return log.fork === undefined ? log.restore(fork, [...rows, ...ends]) : log.fork(source, seq, fork, ends)
}

async function rowsBetween(
  log: Pick<EventLog, 'read'>,
  session: string,
  from: number,
  to: number,
): Promise<readonly Recorded[]> {
  const rows: Recorded[] = []
  for (let after = from; after < to; ) {
    const read = await log.read(session, { after, limit: page })
    for (const row of read) if (row.seq <= to) rows.push(row)
    after = read.at(-1)?.seq ?? to
  }
  return rows
}

async function mustGet(log: Pick<EventLog, 'get'>, session: string): Promise<SessionInfo> {
  const info = await log.get(session)
  if (info === undefined) throw new MillraceError('not-found', `no session ${session}`, { session })
  return info
}
