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
  /** The effect runs as soon as the transaction is durable, before the next job, and never if it fails. */
  onCommit(effect: () => void): void
  /** Tells readers once the transaction is durable, in order, perhaps while the next one commits; never if it fails. */
  tell(news: () => void): void
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

type Settle = () => void

interface Pending {
  /** Does the job and returns a function that resolves the caller's promise, to call once the job is durable. */
  attempt(turn: Turn): Settle | Promise<Settle>
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
  const transaction: Transaction = { writer, begin, timing, place, hooks, presence, untold: [] }
  let waiting: Pending[] = []
  let running: Promise<void> | undefined

  const drain = async (): Promise<void> => {
    await undefined // jobs of the same tick join the first transaction
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      await commit(transaction, group)
      const pause = timing.between()
      if (waiting.length === 0 || pause !== undefined) tell(transaction)
      await pause
    }
    running = undefined
  }
  return {
    run: <T>(job: Job<T>) =>
      new Promise<T>((resolve, reject) => {
        const settle = (value: T) => () => resolve(value)
        const attempt: Pending['attempt'] = (turn) => {
          const value = job(turn)
          return value instanceof Promise ? value.then(settle) : settle(value)
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
  /** What is durable and not told to readers and callers yet. */
  untold: (() => void)[]
}

/**
 * Tells the readers and callers of the last commit that it is durable. What they do then takes this thread longer than a
 * COMMIT takes the disk, so the next COMMIT, if jobs wait, is sent to its thread first. docs/load.md has the
 * figures.
 */
function tell(transaction: Transaction): void {
  const untold = transaction.untold
  transaction.untold = []
  for (const news of untold) news()
}

async function commit(transaction: Transaction, group: readonly Pending[]): Promise<void> {
  const { writer, hooks, place, timing, presence } = transaction
  const effects: (() => void)[] = []
  const news: (() => void)[] = []
  const settlements: (() => void)[] = []
  const size = { rows: 0, text: 0, jobs: group.length, bulk: false }
  try {
    presence?.refuse()
    await begin(transaction)
    const turn = newTurn(effects, news, size)
    for (const { attempt, reject } of group) {
      try {
        const settle = attempt(turn)
        if (settle instanceof Promise) tell(transaction) // it may last
        settlements.push(settle instanceof Promise ? await settle : settle)
      } catch (error) {
        if (!(error instanceof MillraceError)) throw error
        settlements.push(() => reject(error))
      }
    }
    hooks.beforeCommit()
    const durable = timing.commit(size)
    tell(transaction)
    await durable
    presence?.check()
  } catch (error) {
    tell(transaction)
    await writer.exec('ROLLBACK').catch(() => undefined) // SQLite may have done so by itself
    hooks.rolledBack()
    const [one, ...others] = group
    if (others.length === 0) one?.reject(asStoreFailure(error, place, 'write to'))
    else for (const single of group) await commit(transaction, [single]) // so that one failing job fails alone
    return
  }
  hooks.committed()
  for (const effect of effects) effect()
  transaction.untold.push(...news, ...settlements)
}

async function begin(transaction: Transaction): Promise<void> {
  const { writer, begin } = transaction
  try {
    begin.run([])
  } catch {
    tell(transaction) // the wait may last
    await writer.exec(`PRAGMA busy_timeout = ${busyTimeout}; BEGIN IMMEDIATE`)
    await writer.exec('PRAGMA busy_timeout = 0') // a statement on this thread must never wait
  }
}

function newTurn(
  effects: (() => void)[],
  news: (() => void)[],
  size: { rows: number; text: number; bulk: boolean },
): Turn {
  return {
    onCommit: (effect) => void effects.push(effect),
    tell: (some) => void news.push(some),
    wrote: (text) => {
      size.rows += 1
      size.text += text
    },
    bulk: () => {
      size.bulk = true
    },
  }
}
