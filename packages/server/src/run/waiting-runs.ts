import { type EventLog, type HeldLease, MillraceError } from '@millrace/core'
import type { ActiveRun } from './active-run.ts'
import type { ActiveRuns } from './active-runs.ts'
import { fairOrder } from './fair-order.ts'
import type { RunLimits } from './limits.ts'

/**
 * A run that waits for a slot has its `run.started` in the log and a lease under this name, which no process renews. Any
 * process may take it over. Such a lease lasts as long as a number of milliseconds can say, so the order of their ends
 * is the order in which they came.
 */
export const waitingOwner = 'millrace:waiting'
export const waitingTtl = 100 * 365 * 24 * 60 * 60_000

/** How many users' last turns are kept. */
const mostTurns = 1000

export interface WaitingRunsOptions {
  readonly log: Pick<EventLog, 'heldBy'>
  readonly runs: ActiveRuns
  readonly limits: Pick<RunLimits, 'perUser' | 'queue' | 'queuePerUser'>
  /** Takes the run and starts it here; never rejects. The slot is kept until it resolves. */
  readonly take: (lease: HeldLease) => Promise<void>
  readonly isClosing: () => boolean
  readonly failed: (error: unknown) => void
}

/** The runs that wait for a slot: which starts have to wait, and which run comes next when there is a slot here. */
export class WaitingRuns {
  readonly #options: WaitingRunsOptions
  /** How many wait, as far as this process knows, and how many of them would begin if there were more slots. */
  #known = 0
  #ahead = 0
  /** Starts of this process that are about to wait, by user. */
  readonly #entering: string[] = []
  #entered = 0
  /** The users who had a slot here, the last one last. */
  readonly #turns = new Map<string, number>()
  #turn = 0
  /** The sessions of runs that this process let wait. */
  readonly #sessions = new Set<string>()
  #looking: Promise<void> | undefined
  #again = false

  constructor(options: WaitingRunsOptions) {
    this.#options = options
  }

  /** Whether a run of the session was let wait here, and may still wait. */
  has(session: string): boolean {
    return this.#sessions.has(session)
  }

  /** A slot until the result is called; undefined when the run has to wait. Throws `limit` when no more runs may wait. */
  async slot(user: string, replaced: ActiveRun | undefined): Promise<(() => void) | undefined> {
    const { runs, limits } = this.#options
    // Those that wait come first.
    if (replaced !== undefined || this.#ahead === 0 || limits.queue === 0) {
      try {
        const free = runs.reserve(user, replaced)
        this.#hadTurn(user)
        return free
      } catch (error) {
        if (limits.queue === 0) throw error
      }
    }
    await this.#takeRoom(user)
    return undefined
  }

  /** Does what makes a run wait, after `slot` had none. Until then it is counted here, so that many do not pass the limit together. */
  async enter<T>(session: string, user: string, wait: () => Promise<T>): Promise<T> {
    try {
      const started = await wait()
      this.#sessions.add(session)
      this.#known += 1
      return started
    } finally {
      this.#entering.splice(this.#entering.indexOf(user), 1)
      this.#entered += 1
      void this.look()
    }
  }

  /** A slot is free here. */
  freed(): void {
    if (this.#known > 0) void this.look()
  }

  /** Takes as many runs as there are slots here. Never rejects. */
  look(): Promise<void> {
    this.#again = true
    this.#looking ??= this.#lookAgain().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #lookAgain(): Promise<void> {
    const { log, limits, isClosing, failed } = this.#options
    while (this.#again && !isClosing()) {
      this.#again = false
      try {
        const waiting = await log.heldBy(waitingOwner)
        const order = fairOrder(waiting, limits.perUser, this.#turns)
        const begun = await this.#begin(order)
        this.#known = waiting.length - begun
        this.#ahead = order.length - begun
        const still = new Set(waiting.map(({ session }) => session))
        for (const session of this.#sessions) if (!still.has(session)) this.#sessions.delete(session)
      } catch (error) {
        failed(error)
      }
    }
  }

  async #begin(order: readonly HeldLease[]): Promise<number> {
    const { runs, take } = this.#options
    const taking: Promise<void>[] = []
    for (const lease of order) {
      const free = slotOf(runs, lease.user)
      if (free === 'none') break
      if (free === undefined) continue
      this.#hadTurn(lease.user)
      taking.push(take(lease).finally(free))
    }
    await Promise.all(taking)
    return taking.length
  }

  #hadTurn(user: string): void {
    this.#turns.delete(user)
    this.#turns.set(user, ++this.#turn)
    for (const oldest of this.#turns.keys()) {
      if (this.#turns.size <= mostTurns) break
      this.#turns.delete(oldest)
    }
  }

  async #takeRoom(user: string): Promise<void> {
    const { log, limits } = this.#options
    let waiting: readonly string[]
    let before: number
    do {
      before = this.#entered
      const held = await log.heldBy(waitingOwner)
      waiting = [...held.map((lease) => lease.user), ...this.#entering]
      // One that entered while the log was read is in neither.
    } while (before !== this.#entered)
    if (waiting.length >= limits.queue)
      throw new MillraceError('limit', `at most ${limits.queue} runs may wait for a slot; try again later`, {
        limit: 'queue',
        retryAfter: 5,
      })
    const own = waiting.filter((one) => one === user).length
    if (own >= limits.queuePerUser)
      throw new MillraceError(
        'limit',
        `at most ${limits.queuePerUser} runs of one user may wait for a slot; try again later`,
        {
          limit: 'queuePerUser',
          retryAfter: 5,
        },
      )
    this.#entering.push(user)
  }
}

/** `none` when no run can begin here now, undefined when none of this user can. */
function slotOf(runs: ActiveRuns, user: string): (() => void) | 'none' | undefined {
  try {
    return runs.reserve(user, undefined)
  } catch (error) {
    return error instanceof MillraceError && error.facts.limit === 'perProcess' ? 'none' : undefined
  }
}
