import { setImmediate as nextTurn } from 'node:timers/promises'
import { MillraceError } from '@millrace/core'
import { asStoreFailure } from '../store-error.ts'
import type { CommitTiming } from './commit-timing.ts'
import type { Statement, WriteConnection } from './connection.ts'

/**
 * One writer, many callers: whatever has gathered goes into one transaction as soon as the commit before it returns.
 * No timer, so a lone append waits for nobody, and a thousand share one fsync.
 *
 * The rows are inserted on this thread; where COMMIT runs, which holds the fsync, is for commit-timing.ts to say.
 */
export interface GroupCommit {
  /** Runs the job in the next transaction; resolves when that is durable. A MillraceError is the job's own refusal. */
  run<T>(job: Job<T>): Promise<T>
  /** Resolves when all that was asked before is settled. */
  settled(): Promise<void>
}

/**
 * Reads and writes inside the transaction. It may be run a second time, in a transaction of its own, when the group
 * it was in has failed. It must refuse before its first write.
 */
export type Job<T> = (turn: Turn) => T | Promise<T>

export interface Turn {
  /** What to do once it is durable, and never if it is not. */
  onCommit(effect: () => void): void
  /** A row of so much text was written. Lets others have the thread where it were too many in one go. */
  wrote(text: number): Promise<void> | undefined
  /** Much was touched that `wrote` was not told of. */
  bulk(): void
}

/** What else belongs to the transaction. */
export interface CommitHooks {
  beforeCommit(): void
  committed(): void
  rolledBack(): void
}

interface Pending {
  /** Does the job and gives back how to tell its caller, once it is durable. */
  attempt(turn: Turn): Promise<() => void>
  reject(error: MillraceError): void
}

/** About 2 ms of inserting. */
const rowsPerTurn = 200
/** How long to wait for somebody with a database shell; our own processes are kept out by the lock. */
const patience = 5000

export async function groupCommit(
  writer: WriteConnection,
  place: string,
  hooks: CommitHooks,
  timing: CommitTiming,
): Promise<GroupCommit> {
  const transaction: Transaction = { writer, begin: await writer.prepare('BEGIN IMMEDIATE'), timing, place, hooks }
  let waiting: Pending[] = []
  let running: Promise<void> | undefined

  const drain = async (): Promise<void> => {
    await undefined // what is asked in the same tick comes along
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      await commit(transaction, group)
    }
    running = undefined
  }
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        const attempt: Pending['attempt'] = async (turn) => {
          const value = await job(turn)
          return () => resolve(value)
        }
        waiting.push({ attempt, reject })
        running ??= drain()
      }),
    settled: async () => {
      while (running !== undefined) await running
    },
  }
}

interface Transaction {
  readonly writer: WriteConnection
  readonly begin: Statement
  readonly timing: CommitTiming
  readonly place: string
  readonly hooks: CommitHooks
}

async function commit(transaction: Transaction, group: readonly Pending[]): Promise<void> {
  const { writer, hooks, place, timing } = transaction
  const effects: (() => void)[] = []
  const tell: (() => void)[] = []
  const size = { rows: 0, text: 0, jobs: group.length, bulk: false }
  try {
    await begin(transaction)
    const turn = newTurn(effects, size)
    for (const { attempt, reject } of group) {
      try {
        tell.push(await attempt(turn))
      } catch (error) {
        if (!(error instanceof MillraceError)) throw error
        tell.push(() => reject(error))
      }
    }
    hooks.beforeCommit()
    await timing.commit(size)
  } catch (error) {
    await writer.exec('ROLLBACK').catch(() => undefined) // SQLite may have done so by itself
    hooks.rolledBack()
    const [one, ...others] = group
    if (others.length === 0) one?.reject(asStoreFailure(error, place, 'write to'))
    else for (const single of group) await commit(transaction, [single]) // one that is too big takes nobody along
    return
  }
  hooks.committed()
  for (const effect of effects) effect()
  for (const settle of tell) settle()
  await timing.between()
}

async function begin({ writer, begin }: Transaction): Promise<void> {
  try {
    begin.run([])
  } catch {
    await writer.exec(`PRAGMA busy_timeout = ${patience}; BEGIN IMMEDIATE`)
    await writer.exec('PRAGMA busy_timeout = 0') // on this thread we never wait
  }
}

function newTurn(effects: (() => void)[], size: { rows: number; text: number; bulk: boolean }): Turn {
  let written = 0
  return {
    onCommit: (effect) => void effects.push(effect),
    wrote: (text) => {
      size.rows += 1
      size.text += text
      written += 1
      if (written < rowsPerTurn) return undefined
      written = 0
      return nextTurn()
    },
    bulk: () => {
      size.bulk = true
    },
  }
}
