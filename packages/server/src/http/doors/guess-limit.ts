import { MillraceError } from '@millrace/core'

/** Wrong proofs that one address, and all addresses together, may send in a minute. */
const most = { address: 20, all: 200 }
const minute = 60_000
/** Addresses that are counted; an attacker may have many. */
const mostKept = 10_000

/**
 * Counts the wrong tokens that are sent to sign in. After too many in a minute, no token is looked at until the minute is
 * over: neither from this address, nor, where all together are too many, from any. Browsers that have signed in, and
 * requests with a token of their own, are not affected.
 */
export class GuessLimit {
  readonly #now: () => number
  readonly #byAddress = new Map<string, number>()
  #all = 0
  #began = Number.NEGATIVE_INFINITY

  constructor(now: () => number) {
    this.#now = now
  }

  /** Throws `limit` where there were too many wrong ones. Called before the proof is looked at. */
  check(address: string): void {
    const now = this.#now()
    if (now - this.#began >= minute || now < this.#began) {
      this.#began = now
      this.#all = 0
      this.#byAddress.clear()
    }
    if ((this.#byAddress.get(address) ?? 0) < most.address && this.#all < most.all) return
    const retryAfter = Math.max(1, Math.ceil((this.#began + minute - now) / 1000))
    throw new MillraceError('limit', `too many wrong tokens; try again in ${retryAfter} s`, { retryAfter })
  }

  /** A proof was wrong. */
  failed(address: string): void {
    this.#all += 1
    if (this.#byAddress.size < mostKept || this.#byAddress.has(address))
      this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1)
  }
}
