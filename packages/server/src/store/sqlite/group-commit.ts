import { MillraceError } from '@millrace/core'
import { asStoreFailure } from '../store-error.ts'
import type { CommitTiming } from './commit-timing.ts'
import type { Statement, WriteConnection } from './connection.ts'
import type { Presence } from './presence.ts'

/**
 * Commits for many callers through one writer: all jobs that arrived during a commit go into the next transaction as soon
 * as that commit returns. There is no timer, so a lone append does not wait, and a thousand appends share one fsync.
 *
 * Rows are inserted on this thread; `commit-timing.ts` decides on which thread COMMIT runs, which waits for the fsync.
 */
export interface GroupCommit {
  /** Runs the job in the next transaction and resolves when that is durable. A job refuses with a MillraceError. */
  run<T>(job: Job<T>): Promise<T>
  /** Resolves when all earlier jobs have settled. */
  settled(): Promise<void>
}

/**
 * Reads and writes inside the transaction. When the transaction of a group fails, each of its jobs runs once more in a
 * transaction of its own. A job that refuses must do so before its first write.
 */
export type Job<T> = (turn: Turn) => T | Promise<T>

export interface Turn {
  /** The effect runs once the transaction is durable, and never if it fails. */
  onCommit(effect: () => void): void
  /** Counts a row with this many UTF-16 units. */
  wrote(text: number): void
  /** The job changed many rows that `wrote` did not count. */
  bulk(): void
}

/** Called by each transaction. */
export interface CommitHooks {
  beforeCommit(): void
  committed(): void
  rolledBack(): void
}

interface Pending {
  /** Does the job and returns a function that resolves the caller's promise, to call once the job is durable. */
  attempt(turn: Turn): Promise<() => void>
  reject(error: MillraceError): void
}

/** How long to wait for a database shell that writes, in ms; the lock keeps out other servers. */
const busyTimeout = 5000

export async function groupCommit(
  writer: WriteConnection,
  place: string,
  hooks: CommitHooks,
  timing: CommitTiming,
  presence?: Pick<Presence, 'check' | 'refuse'>,
): Promise<GroupCommit> {
  const begin = await writer.prepare('BEGIN IMMEDIATE')
  const transaction: Transaction = { writer, begin, timing, place, hooks, presence }
  let waiting: Pending[] = []
  let running: Promise<void> | undefined

  const drain = async (): Promise<void> => {
    await undefined // jobs of the same tick join the first transaction
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
  readonly presence: Pick<Presence, 'check' | 'refuse'> | undefined
}

async function commit(transaction: Transaction, group: readonly Pending[]): Promise<void> {
  const { writer, hooks, place, timing, presence } = transaction
  const effects: (() => void)[] = []
  const settlements: (() => void)[] = []
  const size = { rows: 0, text: 0, jobs: group.length, bulk: false }
  try {
    presence?.refuse()
    await begin(transaction)
    const turn = newTurn(effects, size)
    for (const { attempt, reject } of group) {
      try {
        settlements.push(await attempt(turn))
      } catch (error) {
        if (!(error instanceof MillraceError)) throw error
        settlements.push(() => reject(error))
      }
    }
    hooks.beforeCommit()
    await timing.commit(size)
    presence?.check()
  } catch (error) {
    await writer.exec('ROLLBACK').catch(() => undefined) // SQLite may have done so by itself
    hooks.rolledBack()
    const [one, ...others] = group
    if (others.length === 0) one?.reject(asStoreFailure(error, place, 'write to'))
    else for (const single of group) await commit(transaction, [single]) // so that one failing job fails alone
    return
  }
  hooks.committed()
  for (const effect of effects) effect()
  for (const settle of settlements) settle()
  await timing.between()
}

async function begin({ writer, begin }: Transaction): Promise<void> {
  try {
    begin.run([])
  } catch {
    await writer.exec(`PRAGMA busy_timeout = ${busyTimeout}; BEGIN IMMEDIATE`)
    await writer.exec('PRAGMA busy_timeout = 0') // a statement on this thread must never wait
  }
}

function newTurn(effects: (() => void)[], size: { rows: number; text: number; bulk: boolean }): Turn {
  return {
    onCommit: (effect) => void effects.push(effect),
    wrote: (text) => {
      size.rows += 1
      size.text += text
    },
    bulk: () => {
      size.bulk = true
    },
  }
}
