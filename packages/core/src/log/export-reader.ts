import { parseRecorded } from '../event/guard.ts'
import { openRuns } from '../event/open-runs.ts'
import { MillraceError } from '../event/problem.ts'
import type { Recorded } from '../event/run-event.ts'
import { isObject, parseJson } from '../json/json.ts'
import { jsonNodes } from '../json/json-nodes.ts'
import type { NewSession, SessionInfo } from './event-log.ts'

export const exportFormat = 'millrace.session'
/** It changes when an older Millrace could no longer read the lines. */
export const exportVersion = 1

/** The first line of an export. */
export interface ExportHeader {
  readonly format: typeof exportFormat
  readonly version: typeof exportVersion
  readonly session: SessionInfo
}

/** A line from `ndjsonReader`: numbered from 1, blank lines left out, a line that is too long marked. */
export interface ImportLine {
  readonly number: number
  readonly text: string
  readonly truncated?: boolean
}

/** Rows are kept until the last line has been checked, so their number and size are bounded. */
export interface ImportLimits {
  /** By default 1,000,000. */
  readonly rows?: number
  /** Characters of all lines together; by default 2^28. */
  readonly text?: number
  /** Values in all lines together: objects, lists and what is in them; by default 2^24. */
  readonly nodes?: number
}

type ExportedSession = Required<Pick<NewSession, 'agent' | 'title'>> & Pick<NewSession, 'forkOf'>

export interface ExportReader {
  /** The row of the line; undefined for the header. */
  push(line: ImportLine): Recorded | undefined
  /** The session, and the ends of the runs that it leaves open: they are ended as `cut`. */
  end(): ExportedSession & { readonly ends: readonly Recorded[] }
}

/** Imported names appear in every list of sessions, so they are bounded like the names that a client sends. */
const longestName = 1000

/**
 * Reads the lines of an export, wherever it is opened. An export is our own file, so one bad line means that it is
 * damaged: the error is `invalid` (or `limit`) with `facts.line`, and no row of it is used.
 */
export function exportReader(limits: ImportLimits = {}): ExportReader {
  const { rows: maxRows = 1_000_000, text: maxText = 2 ** 28, nodes: maxNodes = 2 ** 24 } = limits
  const open = openRuns()
  let session: ExportedSession | undefined
  let rows = 0
  let last = 0
  let size = 0
  let nodes = 0
  return {
    push({ number, text, truncated }) {
      size += text.length
      nodes += jsonNodes(text)
      if (truncated === true || size > maxText || nodes > maxNodes || rows >= maxRows) {
        throw new MillraceError(
          'limit',
          `line ${number}: the import is larger than the limit; import fewer or shorter lines`,
          { line: number },
        )
      }
      if (session === undefined) {
        session = readHeader(text, number)
        return undefined
      }
      const row = readRow(text, number, last)
      open.push(row)
      rows += 1
      last = row.seq
      return row
    },
    end() {
      if (session === undefined) throw badLine(1, 'the file has no header line')
      return { ...session, ends: open.cutEnds() }
    },
  }
}

function readHeader(raw: string, line: number): ExportedSession {
  const parsed = parseJson(raw)
  if ('reason' in parsed) throw badLine(line, parsed.reason)
  const { value } = parsed
  if (!isObject(value) || value.format !== exportFormat) throw badLine(line, 'not the header of a session export')
  if (value.version !== exportVersion)
    throw badLine(
      line,
      `the export has version ${String(value.version)}, but this Millrace reads version ${exportVersion}`,
    )
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
