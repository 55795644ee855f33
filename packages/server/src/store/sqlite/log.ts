import { dirname } from 'node:path'
import { type EventLog, MillraceError, type SessionFacts } from '@millrace/core'
import { asStoreFailure } from '../store-error.ts'
import { newTails } from '../tail.ts'
import { commitTiming } from './commit-timing.ts'
import { type EventInserts, eventInserts } from './event-inserts.ts'
import { checkpoints } from './facts.ts'
import { openSqliteFile, type SqliteFile } from './file.ts'
import { sqliteFind } from './find.ts'
import { type CommitHooks, type GroupCommit, groupCommit } from './group-commit.ts'
import { leftoverKeys, leftovers } from './leftovers.ts'
import { sqliteReads } from './read.ts'
import { sqliteSearch } from './search.ts'
import { sessionCache } from './session-cache.ts'
import { anythingShared, sharedReads } from './shared.ts'
import { spareRoom } from './spare-room.ts'
import { usageCounts } from './usage.ts'
import { sqliteWrites } from './write.ts'
import { writeHealth } from './write-health.ts'

export interface SqliteLogOptions {
  /** The data folder, created if it is missing. It holds `millrace.db`, and one process at a time may use it. */
  readonly folder: string
  readonly now: () => number
  /**
   * Whether each session belongs to the user of a token: the sessions of the file are keyed accordingly when it is opened
   * (`sessionKey`), and keep their ids. Absent: the keys stay as they are.
   */
  readonly owned?: boolean
  /** The largest size of the file. Appends beyond it are refused with `store-failed`, reason `full`. */
  readonly maxBytes?: number
  /**
   * Called once when the database or its WAL was removed or replaced while it was open: from then on every append fails.
   * Also called when the lock file was removed and made again (`facts.reason` is `unlocked`), which changes nothing else.
   */
  readonly onLost?: (error: MillraceError) => void
}

export interface SqliteLog extends EventLog {
  readonly secret: Uint8Array
  readonly readRaw: NonNullable<EventLog['readRaw']>
  readonly followRaw: NonNullable<EventLog['followRaw']>
  /** The problems that `PRAGMA integrity_check` finds; empty when there are none. */
  integrity(): Promise<readonly string[]>
}

/**
 * The embedded durable log: SQLite in one file, WAL with `synchronous=FULL`, so that acknowledged events survive a crash
 * of the process and of the machine (SPEC 2.2). When it cannot open the file it leaves it unchanged and rejects with
 * `store-failed`; `facts.reason` is one of `storeReasons`.
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

/** The size of a file that is worth spare room, in bytes. */
const worthSparing = 2 ** 20

async function logOn(file: SqliteFile, now: () => number): Promise<SqliteLog> {
  const { writer, reader, copier, path, presence, secret } = file
  let closing: Promise<void> | undefined
  const checkOpen = (): void => {
    if (closing !== undefined) throw new MillraceError('unavailable', 'the log is closed')
  }
  const tails = newTails()
  const keys = leftoverKeys(reader)
  const usage = usageCounts(reader, keys)
  const sessions = await sessionCache(writer, usage)
  const inserts = await eventInserts(writer)
  const timing = await commitTiming(writer, inserts, copier, () => performance.now())
  const group = await groupCommit(writer, path, withInserts(sessions, inserts), timing, presence)
  const health = writeHealth(dirname(path), writer, group.run)
  const commit: GroupCommit['run'] = async (job) => {
    checkOpen()
    return health.run(job)
  }
  const spare = spareRoom(dirname(path))
  // A small log has nothing worth deleting on a full disk.
  if (file.size >= worthSparing) void spare.take()
  const due = new Map<number, SessionFacts>()
  const shared = anythingShared(reader)
  const left = await leftovers({ writer, commit, inserts, keys })
  // Beside other work. What fails now is tried at the next start.
  void left.clearAll().catch(() => undefined)
  const reads = sqliteReads({ reader, tails, now, checkOpen, due, usage, known: sessions.committedRow })
  return {
    secret,
    ...(await sqliteWrites({
      writer,
      reader,
      sessions,
      tails,
      now,
      commit,
      inserts,
      shared,
      spare,
      leftovers: left,
      checkpoints: await checkpoints(writer, due),
    })),
    ...reads,
    ...sharedReads(reader, shared, checkOpen),
    ...(await sqliteSearch({ writer, reader, sessions, commit, inserts })),
    ...sqliteFind({ writer, reader, sessions, commit, reads, checkOpen }),
    trouble: async () => {
      checkOpen()
      return health.trouble()
    },
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

function withInserts(sessions: CommitHooks, inserts: EventInserts): CommitHooks {
  return {
    beforeCommit: () => sessions.beforeCommit(),
    committed: () => sessions.committed(),
    rolledBack: () => {
      inserts.clear()
      sessions.rolledBack()
    },
  }
}
