import { setImmediate as nextTurn } from 'node:timers/promises'
import type { WriteConnection } from './connection.ts'

/** What a transaction holds: how much there is to write decides where. */
export interface CommitSize {
  readonly rows: number
  /** UTF-16 units. */
  readonly text: number
  readonly jobs: number
  /** Whole sessions or runs were touched: more than rows and text tell. */
  readonly bulk: boolean
}

export interface CommitTiming {
  commit(size: CommitSize): Promise<void>
  /** Between two commits: lets others have the thread, and moves the WAL into the file, off it, when it is time. */
  between(): Promise<void>
}

/** What a commit on this thread may take, in ms, on the average of the last ones: each counts a fifth. */
const quick = 2
const newest = 0.2
/** More rows are a crowd, with other work to do meanwhile; more text is slow on any disk. */
const few = 200
const little = 256 * 1024
/** Checkpoint before SQLite would, inside a COMMIT: that is at `autocheckpoint` pages. */
export const autocheckpoint = 5000
const fullPages = 4000
const pageText = 3500
/** Commits made here one after the other let others have the thread after so long, in ms. */
const fair = 4

/**
 * COMMIT holds the fsync, and a slow one must stall no reader and no timer. libsql can run it on a thread of its own;
 * getting there and back costs as much as a quick fsync does (a lone run: 1,500 commits/s against 2,800). So: on this
 * thread while the disk is quick, off it while it is not. A disk that turns slow stalls the loop for one fsync, one that
 * hiccups keeps its commits here. Checkpoints, and commits of a crowd or of much text, are never made here.
 */
export async function commitTiming(writer: WriteConnection, stopwatch: () => number): Promise<CommitTiming> {
  const here = await writer.prepare('COMMIT')
  let usual = 0
  let pages = 0
  let turned = stopwatch()
  return {
    commit: async ({ rows, text, jobs, bulk }) => {
      const begun = stopwatch()
      if (usual <= quick && rows <= few && text <= little && !bulk) here.run([])
      else await writer.exec('COMMIT')
      usual += (stopwatch() - begun - usual) * newest
      pages += 4 + jobs + text / pageText
    },
    between: async () => {
      if (pages >= fullPages) {
        pages = 0
        await writer.exec('PRAGMA wal_checkpoint(PASSIVE)').catch(() => undefined) // the next one will, or SQLite itself
      } else if (stopwatch() - turned > fair) await nextTurn()
      else return
      turned = stopwatch()
    },
  }
}
