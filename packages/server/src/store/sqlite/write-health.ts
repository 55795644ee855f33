import { MillraceError } from '@millrace/core'
import type { WriteConnection } from './connection.ts'
import type { GroupCommit } from './group-commit.ts'
import { freeBytes } from './spare-room.ts'

/** Less room than this counts as none, so that a load balancer hears of it before users do. */
const leastFree = 4 * 2 ** 20
/** How often the disk is looked at, in ms. */
const every = 1_000

const sentences: Readonly<Record<string, string>> = {
  full: 'the disk or the quota is full',
  'read-only': 'the log may not be written to',
  io: 'the disk reported an error',
}

/** Knows whether the log can be written to, from the commits that were made. */
export interface WriteHealth {
  /** Runs the job, and notes how it went. */
  readonly run: GroupCommit['run']
  /** Why an append would fail now. After a commit that failed it tries another, because nothing else tells. */
  trouble(): Promise<string | undefined>
}

export function writeHealth(folder: string, writer: WriteConnection, commit: GroupCommit['run']): WriteHealth {
  let failed: string | undefined
  let looked = Number.NEGATIVE_INFINITY
  let looking: Promise<string | undefined> | undefined
  const run: GroupCommit['run'] = async (job) => {
    try {
      const value = await commit(job)
      failed = undefined
      return value
    } catch (error) {
      const reason = error instanceof MillraceError && error.code === 'store-failed' ? String(error.facts.reason) : ''
      failed = sentences[reason] ?? failed
      throw error
    }
  }
  /** Takes a few pages and gives them back. */
  const attempt = (): Promise<void> =>
    run(async (turn) => {
      turn.bulk()
      await writer.exec(
        `INSERT INTO checkpoint (session, seq, version, body) VALUES (0, 0, 0, hex(zeroblob(8192)));
         DELETE FROM checkpoint WHERE session = 0`,
      )
    })
  const look = async (): Promise<string | undefined> => {
    if (failed !== undefined) await attempt().catch(() => undefined)
    if (failed !== undefined) return failed
    const free = await freeBytes(folder).catch(() => Number.POSITIVE_INFINITY)
    return free < leastFree ? 'the disk is nearly full' : undefined
  }
  return {
    run,
    trouble: () => {
      if (looking === undefined || performance.now() - looked > every) {
        looked = performance.now()
        looking = look()
      }
      return looking
    },
  }
}
