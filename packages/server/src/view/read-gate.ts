import { MillraceError } from '@millrace/core'

export interface ReadLimits {
  /** Reads of long sessions at once, by all users. */
  readonly reads: number
  /** Reads of long sessions at once, by one user. */
  readonly readsPerUser: number
  /** Reads of one user that may wait for their turn. */
  readonly waitingPerUser: number
}

export const defaultReadLimits: ReadLimits = { reads: 2, readsPerUser: 1, waitingPerUser: 32 }

interface Waiting {
  readonly user: string
  readonly go: () => void
}

/**
 * Lets a bounded number of reads of long sessions work at once, in all and for each user, so that one user cannot use up
 * the memory and the processor of everyone. The others wait in order. Users take turns: the user with the fewest reads
 * at work is next.
 */
export class ReadGate {
  readonly #limits: ReadLimits
  readonly #active = new Map<string, number>()
  #waiting: Waiting[] = []
  #total = 0

  constructor(limits: ReadLimits) {
    this.#limits = limits
  }

  /** How many reads are at work, and how many wait. */
  get counts(): { readonly active: number; readonly waiting: number } {
    return { active: this.#total, waiting: this.#waiting.length }
  }

  /** Waits for a turn; the function that is returned gives it back. Rejects with the signal's reason. */
  async enter(user: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (!this.#mayStart(user)) await this.#turn(user, signal)
    else this.#start(user)
    let left = false
    return () => {
      if (left) return
      left = true
      this.#end(user)
    }
  }

  #turn(user: string, signal: AbortSignal): Promise<void> {
    const { waitingPerUser } = this.#limits
    if (this.#waiting.filter((one) => one.user === user).length >= waitingPerUser)
      throw new MillraceError(
        'limit',
        `more than ${waitingPerUser} of your reads of long sessions are waiting; retry when some have ended`,
        { retryAfter: 1 },
      )
    return new Promise((resolve, reject) => {
      const waiting: Waiting = {
        user,
        go: () => {
          signal.removeEventListener('abort', leave)
          resolve()
        },
      }
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((one) => one !== waiting)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(waiting)
    })
  }

  #mayStart(user: string): boolean {
    return this.#total < this.#limits.reads && (this.#active.get(user) ?? 0) < this.#limits.readsPerUser
  }

  #start(user: string): void {
    this.#total += 1
    this.#active.set(user, (this.#active.get(user) ?? 0) + 1)
  }

  #end(user: string): void {
    this.#total -= 1
    const left = (this.#active.get(user) ?? 1) - 1
    if (left === 0) this.#active.delete(user)
    else this.#active.set(user, left)
    const next = this.#waiting
      .filter((one) => this.#mayStart(one.user))
      .reduce<Waiting | undefined>(
        (best, one) => (best === undefined || this.#busier(best, one) ? one : best),
        undefined,
      )
    if (next === undefined) return
    this.#waiting = this.#waiting.filter((one) => one !== next)
    this.#start(next.user)
    next.go()
  }

  #busier(one: Waiting, other: Waiting): boolean {
    return (this.#active.get(one.user) ?? 0) > (this.#active.get(other.user) ?? 0)
  }
}
