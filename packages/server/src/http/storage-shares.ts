import type { EventLog, LogUsage, MillraceError } from '@millrace/core'
import { refuse } from './doors/problem.ts'
import type { OnRefused } from './share-counts.ts'
import type { ShareName, Shares } from './shares.ts'

/** How long a count is used before it is read again, in ms: counting looks at every session of a user. */
const fresh = 1_000
/** How many users' counts are kept. */
const mostKept = 1_000

/** Where several servers share the log, a count is used for this part of the room that is left: they make sessions too. */
const sharedPart = 10

interface Counted {
  readonly at: number
  /** How many sessions there were when it was read. */
  readonly read: number
  sessions: number
  readonly bytes: number
}

export interface StorageSharesOptions {
  readonly log: EventLog
  readonly shares: Pick<Shares, 'sessions' | 'bytes'>
  readonly now: () => number
  readonly refused: OnRefused
}

/** Refuses to write more where a user, or all users together, have what they may have in the log. */
export class StorageShares {
  readonly #options: StorageSharesOptions
  readonly #counted = new Map<string | undefined, Counted>()

  constructor(options: StorageSharesOptions) {
    this.#options = options
  }

  /** Before something is written to a session. */
  async checkBytes(user: string | undefined): Promise<void> {
    await this.#check(user, ['bytes'])
  }

  /** Before a session is made. */
  async checkSession(user: string | undefined): Promise<void> {
    await this.#check(user, ['sessions', 'bytes'])
    for (const whose of new Set([user, undefined])) {
      const counted = this.#counted.get(whose)
      if (counted !== undefined) counted.sessions += 1
    }
  }

  /** A session of the user was removed: the next check counts again. */
  removed(user: string | undefined): void {
    this.#counted.delete(user)
    this.#counted.delete(undefined)
  }

  async #check(user: string | undefined, names: readonly ('sessions' | 'bytes')[]): Promise<void> {
    const { shares } = this.#options
    const limits = [
      ...(user === undefined ? [] : [{ by: 'user' as const, whose: user }]),
      { by: 'all' as const, whose: undefined },
    ]
    for (const { by, whose } of limits) {
      const bounded = names.filter((name) => Number.isFinite(shares[name][by]))
      if (bounded.length === 0) continue
      const has = await this.#usage(whose, shares.sessions[by])
      for (const name of bounded) if (has[name] >= shares[name][by]) throw this.#refusal(name, by, shares[name][by])
    }
  }

  async #usage(user: string | undefined, mostSessions: number): Promise<Counted> {
    const { log, now } = this.#options
    const known = this.#counted.get(user)
    const at = now()
    const isUsedUp = log.watch !== undefined && known !== undefined && isWorn(known, mostSessions)
    if (known !== undefined && !isUsedUp && at - known.at < fresh && at >= known.at) return known
    const usage = await usageOf(log, user)
    const counted = { at, read: usage.sessions, ...usage }
    this.#counted.delete(user)
    this.#counted.set(user, counted)
    for (const oldest of this.#counted.keys()) {
      if (this.#counted.size <= mostKept) break
      this.#counted.delete(oldest)
    }
    return counted
  }

  #refusal(name: ShareName, by: 'user' | 'all', most: number): MillraceError {
    this.#options.refused(name, by)
    const whose = by === 'user' ? 'This user has' : 'This server has'
    const what = name === 'sessions' ? `${most} sessions` : `${most} bytes in its sessions`
    return refuse('no-room', `${whose} ${what}, which is the limit; delete sessions that are no longer needed`, {
      limit: name,
      by,
      retryAfter: 60,
    })
  }
}

function isWorn({ read, sessions }: Counted, most: number): boolean {
  return sessions - read >= Math.max(0, most - read) / sharedPart - 1
}

async function usageOf(log: EventLog, user: string | undefined): Promise<LogUsage> {
  if (log.usage !== undefined) return log.usage(user)
  const { total } = await log.list({ ...(user === undefined ? {} : { user }), limit: 1 })
  return { sessions: total, bytes: 0 }
}
