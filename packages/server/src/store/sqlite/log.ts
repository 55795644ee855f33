import { type EventLog, MillraceError } from '@millrace/core'
import { asStoreFailure } from '../store-error.ts'
import { newTails } from '../tail.ts'
import { commitTiming } from './commit-timing.ts'
import { openSqliteFile, type SqliteFile } from './file.ts'
import { type GroupCommit, groupCommit } from './group-commit.ts'
import { sqliteReads } from './read.ts'
import { sessionCache } from './session-cache.ts'
import { sqliteWrites } from './write.ts'

export interface SqliteLogOptions {
  /** The data folder, made where it is missing. It holds `millrace.db` and is used by one process at a time. */
  readonly folder: string
  readonly now: () => number
  /** The file may not grow beyond this: appends are then refused as `store-failed`, reason `full`. */
  readonly maxBytes?: number
}

export interface SqliteLog extends EventLog {
  readonly readRaw: NonNullable<EventLog['readRaw']>
  readonly followRaw: NonNullable<EventLog['followRaw']>
  /** What `PRAGMA integrity_check` finds; nothing when all is well. */
  integrity(): Promise<readonly string[]>
}

/**
 * The embedded durable log: SQLite in one file, WAL with `synchronous=FULL`, so that what was acknowledged survives a
 * crash of the process and of the machine (SPEC 2.2). Rejects with `store-failed` and `facts.reason` (`locked`,
 * `newer`, `damaged`, `foreign`, `read-only`, `full`, `io`) when it cannot open the file, which then is as it was.
 */
export async function sqliteLog(options: SqliteLogOptions): Promise<SqliteLog> {
  const file = await openSqliteFile({ ...options, now: options.now() })
  try {
    return await logOn(file, options.now)
  } catch (error) {
    await file.close()
    throw asStoreFailure(error, file.path, 'open')
  }
}

async function logOn(file: SqliteFile, now: () => number): Promise<SqliteLog> {
  const { writer, reader, path } = file
  let closing: Promise<void> | undefined
  const checkOpen = (): void => {
    if (closing !== undefined) throw new MillraceError('unavailable', 'the log is closed')
  }
  const tails = newTails()
  const heads = await sessionCache(writer)
  const group = await groupCommit(writer, path, heads, await commitTiming(writer, () => performance.now()))
  const commit: GroupCommit['run'] = async (job) => {
    checkOpen()
    return group.run(job)
  }
  return {
    ...(await sqliteWrites({ writer, reader, heads, tails, now, commit })),
    ...sqliteReads(reader, tails, now, checkOpen),
    integrity: async () => {
      checkOpen()
      return file.integrity()
    },
    close: () => {
      closing ??= group.settled().then(() => {
        tails.endAll()
        return file.close()
      })
      return closing
    },
  }
}
