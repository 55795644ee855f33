import { MillraceError } from '@millrace/core'
import type { Allotments } from './allotments.ts'
import type { FairShare, ShareName } from './shares.ts'

/** A refusal, for the metrics. */
export type OnRefused = (share: ShareName, by: 'user' | 'all') => void

const minute = 60_000

/** Counts what is open at once, of each user and in all. */
export class OpenCounts {
  readonly #name: ShareName
  readonly #share: FairShare
  readonly #refused: OnRefused
  readonly #byUser = new Map<string, number>()
  #all = 0

  constructor(name: ShareName, share: FairShare, refused: OnRefused) {
    this.#name = name
    this.#share = share
    this.#refused = refused
  }

  /** Counts one more until the result is called. Throws `limit` where there are too many. */
  take(user: string | undefined): () => void {
    const own = user === undefined ? 0 : (this.#byUser.get(user) ?? 0)
    if (user !== undefined && own >= this.#share.user) throw this.#refusal('user', this.#share.user)
    if (this.#all >= this.#share.all) throw this.#refusal('all', this.#share.all)
    this.#all += 1
    if (user !== undefined) this.#byUser.set(user, own + 1)
    let counted = true
    return () => {
      if (!counted) return
      counted = false
      this.#all -= 1
      if (user === undefined) return
      const left = (this.#byUser.get(user) ?? 1) - 1
      if (left > 0) this.#byUser.set(user, left)
      else this.#byUser.delete(user)
    }
  }

  #refusal(by: 'user' | 'all', most: number): MillraceError {
    this.#refused(this.#name, by)
    const whose = by === 'user' ? 'of one user' : 'in all'
    const message = `at most ${most} ${this.#name} ${whose} at once; try again when one has ended`
    return new MillraceError('limit', message, { limit: this.#name, by, retryAfter: 1 })
  }
}

/** Counts what happens in each minute, of each user and in all: over all servers of a log where it can count, else here. */
export class MinuteCounts {
  readonly #name: ShareName
  readonly #share: FairShare
  readonly #refused: OnRefused
  readonly #now: () => number
  readonly #shared: Allotments | undefined
  readonly #byUser = new Map<string, number>()
  #all = 0
  #began = Number.NEGATIVE_INFINITY

  constructor(name: ShareName, share: FairShare, refused: OnRefused, now: () => number, shared?: Allotments) {
    this.#name = name
    this.#share = share
    this.#refused = refused
    this.#now = now
    this.#shared = shared
  }

  /** Counts one. Throws `limit` where there were too many in this minute. */
  async take(user: string | undefined): Promise<void> {
    if (this.#shared === undefined || !(await this.#takeShared(user, this.#shared))) this.#takeHere(user)
  }

  /** False when the log does not answer. */
  async #takeShared(user: string | undefined, shared: Allotments): Promise<boolean> {
    const { user: most, all: mostOfAll } = this.#share
    const key = `${this.#name}/${user ?? ''}`
    const own = user === undefined ? undefined : await shared.take(key, most)
    if (user !== undefined && own === undefined) return false
    if (own?.granted === false) throw this.#refusal('user', most, own.left)
    if (mostOfAll === Number.POSITIVE_INFINITY) return true
    const all = await shared.take(this.#name, mostOfAll)
    if (all?.granted === true) return true
    if (own !== undefined) shared.giveBack(key)
    if (all === undefined) return false
    throw this.#refusal('all', mostOfAll, all.left)
  }

  #takeHere(user: string | undefined): void {
    const now = this.#now()
    if (now - this.#began >= minute || now < this.#began) {
      this.#began = now
      this.#all = 0
      this.#byUser.clear()
    }
    const own = user === undefined ? 0 : (this.#byUser.get(user) ?? 0)
    if (user !== undefined && own >= this.#share.user)
      throw this.#refusal('user', this.#share.user, this.#began + minute - now)
    if (this.#all >= this.#share.all) throw this.#refusal('all', this.#share.all, this.#began + minute - now)
    this.#all += 1
    if (user !== undefined) this.#byUser.set(user, own + 1)
  }

  #refusal(by: 'user' | 'all', most: number, left: number): MillraceError {
    this.#refused(this.#name, by)
    const retryAfter = Math.max(1, Math.ceil(left / 1000))
    const whose = by === 'user' ? 'of one user' : 'in all'
    const message = `at most ${most} ${this.#name} ${whose} per minute; retry in ${retryAfter} s`
    return new MillraceError('limit', message, { limit: this.#name, by, retryAfter })
  }
}
