import { setImmediate as nextTurn } from 'node:timers/promises'
import type { WriteConnection } from './connection.ts'
import type { EventInserts } from './event-inserts.ts'
import type { WalCopier } from './wal-copier.ts'

/** How much a transaction writes, which decides on which thread it commits. */
export interface CommitSize {
  readonly rows: number
  /** UTF-16 units. */
  readonly text: number
  readonly jobs: number
  /** The transaction changed more than `rows` and `text` count, such as a whole session. */
  readonly bulk: boolean
}

export interface CommitTiming {
  commit(size: CommitSize): Promise<void>
  /** Called between two commits. Gives other work a turn, and has the WAL copied into the file when it is long. */
  between(): Promise<void> | undefined
}

/** The disk is quick while the moving average of its commits is at most this, in ms. */
const quick = 2
/** The weight of the newest commit in that average. */
const newestWeight = 0.2
/** Larger commits always run on libsql's thread: many rows come from many runs, and much text is slow on any disk. */
const maxRows = 200
const maxText = 256 * 1024
/** More jobs than this come from several active runs: while libsql's thread commits, this thread serves them. */
const maxJobs = 3
/** The share of a commit's jobs that is expected of the next commit: runs that just wrote usually write again. */
const fading = 0.9
/** More text than this is inserted on this thread, value by value: as one SQL text it would be copied several times. */
const maxSql = 4 * 1024 * 1024
/** SQLite checkpoints inside a COMMIT when the WAL has this many pages. */
export const autocheckpoint = 5000
/** `between` begins earlier, at about this many pages; `pageText` UTF-16 units fill about one. */
const checkpointPages = 4000
const pageText = 3500
/**
 * SQLite 3.45, which libsql has, may lose pages when a copy finds all of them copied and a commit of another connection
 * begins the WAL anew at that moment (sqlite.org/wal.html, "The WAL-Reset Bug"; 3.51.3 mends it). So the WAL has a page
 * that is not copied when the copier begins, and nothing else copies until it is done. Setting the number to what it is
 * writes the first page and changes nothing.
 */
const beforeCopy = 'PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 0'
const afterCopy = `PRAGMA wal_autocheckpoint = ${autocheckpoint}; PRAGMA wal_checkpoint(PASSIVE)`
/** After commits on this thread for this long without a break, other work gets a turn; in ms. */
const maxStreak = 4

/**
 * Decides on which thread a COMMIT runs, because it waits for the fsync. libsql can run it on its own thread, but getting
 * there and back takes about 50 µs. So a COMMIT runs on this thread while the disk is quick, and on libsql's while it is
 * slow: a disk that turns slow blocks this thread for one fsync, one slow fsync among quick ones changes nothing.
 *
 * Measured (`npm run bench store`, two idle cores, an fsync of 0.2 to 0.3 ms): a lone run commits 1.1 to 1.27 times as
 * often as with every COMMIT on libsql's thread and uses two thirds of the CPU; a single append reaches 0.85 instead of
 * 0.74 of a bare libsql loop. On a disk that is 20 ms slower, 50 commits block this thread for 21 ms instead of 1,100 ms.
 * With several busy processes on each core nothing is gained (0.7 to 1.0).
 *
 * When several runs write at once, their rows go to libsql's thread together with the COMMIT, as one SQL text. The small
 * commits between the large ones go there, too: with 50 runs at once this thread waited for the disk in a fifth of its
 * time, and a run took 0.70 to 0.74 ms instead of 0.79 to 0.81 ms (medians, two cores).
 */
export async function commitTiming(
  writer: WriteConnection,
  inserts: Pick<EventInserts, 'insertHere' | 'takeSql'>,
  copier: Pick<WalCopier, 'copy'>,
  stopwatch: () => number,
): Promise<CommitTiming> {
  const commitHere = await writer.prepare('COMMIT')
  let average = 0
  let crowd = 0
  let pages = 0
  let copy: 'none' | 'under way' | 'made' = 'none'
  let lastTurn = stopwatch()
  const made = (): void => {
    copy = 'made'
  }
  const turnOfOthers = async (): Promise<void> => {
    await nextTurn()
    lastTurn = stopwatch()
  }
  /** Only what was written during the copy is left. Once all is copied, the next commit begins the WAL anew. */
  const copyRest = async (): Promise<void> => {
    await writer.exec(afterCopy).catch(() => undefined) // a later checkpoint copies the rest
  }
  /** Where the copier cannot begin, this connection copies. */
  const beginCopy = async (): Promise<void> => {
    pages = 0
    copy = 'under way'
    await writer.exec(beforeCopy).then(() => void copier.copy().then(made), made)
  }
  return {
    commit: async ({ rows, text, jobs, bulk }) => {
      const begun = stopwatch()
      crowd = Math.max(jobs, crowd * fading)
      if (average <= quick && crowd <= maxJobs && rows <= maxRows && text <= maxText && !bulk) {
        inserts.insertHere()
        commitHere.run([])
      } else {
        if (text > maxSql) inserts.insertHere()
        await writer.exec(`${inserts.takeSql()}COMMIT`)
        lastTurn = stopwatch() // other work had its turn meanwhile
      }
      average += (stopwatch() - begun - average) * newestWeight
      pages += 4 + jobs + text / pageText
    },
    between: () => {
      if (pages >= checkpointPages && copy === 'none') return beginCopy()
      if (copy === 'made') {
        copy = 'none'
        return copyRest()
      }
      return stopwatch() - lastTurn > maxStreak ? turnOfOthers() : undefined
    },
  }
}
