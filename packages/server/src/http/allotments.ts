import type { EventLog } from '@millrace/core'

export type Allot = NonNullable<EventLog['allot']>

/** Whether one more was counted, how many there are in this minute, and how long that still lasts, in ms. */
export interface Counted {
  readonly granted: boolean
  readonly count: number
  readonly left: number
}

interface Reserved {
  /** When the minute ends, on the clock of this process. */
  readonly until: number
  /** Counted in the log and not used yet. */
  spare: number
  count: number
}

const minute = 60_000
/** One round trip is enough for this part of what a minute allows. What a server reserves and does not use is lost. */
const batches = 100
/** How many keys are kept. */
const mostKept = 10_000

/** Counts for each minute that hold over all servers of a log. Each server reserves a small part of them at a time. */
export class Allotments {
  readonly #allot: Allot
  readonly #now: () => number
  readonly #reserved = new Map<string, Reserved>()

  constructor(allot: Allot, now: () => number) {
    this.#allot = allot
    this.#now = now
  }

  /** Counts one more under the key. Undefined when the log does not answer. */
  async take(key: string, most: number): Promise<Counted | undefined> {
    const known = this.#reserved.get(key)
    if (known !== undefined && this.#isNow(known) && (known.spare > 0 || known.count >= most)) return this.#use(known)
    try {
      const { granted, count, left } = await this.#allot(key, Math.max(1, Math.floor(most / batches)), most, minute)
      const other = this.#reserved.get(key)
      // Another request may have reserved meanwhile.
      const spare = granted + (other !== undefined && this.#isNow(other) ? other.spare : 0)
      return this.#use(this.#keep(key, { until: this.#now() + left, spare, count }))
    } catch {
      return undefined
    }
  }

  /** Returns what `take` counted and the caller did not use. */
  giveBack(key: string): void {
    const known = this.#reserved.get(key)
    if (known !== undefined) known.spare += 1
  }

  #isNow({ until }: Reserved): boolean {
    const left = until - this.#now()
    return left > 0 && left <= minute
  }

  #use(reserved: Reserved): Counted {
    const granted = reserved.spare > 0
    if (granted) reserved.spare -= 1
    return { granted, count: reserved.count - reserved.spare, left: Math.max(1, reserved.until - this.#now()) }
  }

  #keep(key: string, reserved: Reserved): Reserved {
    this.#reserved.delete(key)
    this.#reserved.set(key, reserved)
    for (const oldest of this.#reserved.keys()) {
      if (this.#reserved.size <= mostKept) break
      this.#reserved.delete(oldest)
    }
    return reserved
  }
}
