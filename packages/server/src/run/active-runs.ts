import { MillraceError } from '@millrace/core'
import { PassingMap } from '@millrace/core/store'
import type { ActiveRun } from './active-run.ts'
import type { RunLimits } from './limits.ts'

/** The active runs of this process, the readers of their sessions, and the limits on how many may run at once. */
export class ActiveRuns {
  readonly #limits: Pick<RunLimits, 'perProcess' | 'perUser'>
  readonly #bySession = new PassingMap<string, ActiveRun>()
  readonly #readers = new Map<string, number>()
  /** Starts that wait for the last reader of a session to leave. */
  readonly #waiting = new Set<{ readonly session: string; readonly settle: (unread: boolean) => void }>()
  /** Starts under way count too; otherwise many at once would pass the limit together. */
  #starting = 0
  readonly #perUser = new Map<string, number>()

  constructor(limits: Pick<RunLimits, 'perProcess' | 'perUser'>) {
    this.#limits = limits
  }

  get size(): number {
    return this.#bySession.size
  }
  all(): readonly ActiveRun[] {
    return [...this.#bySession.values()]
  }
  of(session: string): ActiveRun | undefined {
    return this.#bySession.get(session)
  }
  isRead(session: string): boolean {
    return (this.#readers.get(session) ?? 0) > 0
  }

  /** Resolves with true once the session has no reader or its run has ended, with false after `patience` ms. */
  unread(session: string, patience: number): Promise<boolean> {
    if (!this.isRead(session)) return Promise.resolve(true)
    return new Promise((resolve) => {
      const settle = (unread: boolean): void => {
        clearTimeout(timer)
        this.#waiting.delete(waiter)
        resolve(unread)
      }
      const waiter = { session, settle }
      const timer = setTimeout(settle, patience, false)
      this.#waiting.add(waiter)
      void this.of(session)?.whenEnded.then(() => settle(true))
    })
  }

  /** Reserves a slot for a run of this user, which may replace another run. Throws `limit` when there is no slot. */
  reserve(user: string, replaced: ActiveRun | undefined): () => void {
    const own = (this.#perUser.get(user) ?? 0) - (replaced?.user === user ? 1 : 0)
    const all = this.#bySession.size + this.#starting - (replaced === undefined ? 0 : 1)
    if (all >= this.#limits.perProcess)
      throw new MillraceError('limit', 'too many runs are active; try again when one has ended', {
        limit: 'perProcess',
      })
    if (own >= this.#limits.perUser)
      throw new MillraceError('limit', 'this user has too many active runs; try again when one has ended', {
        limit: 'perUser',
      })
    this.#starting += 1
    this.#count(user, 1)
    return () => {
      this.#starting -= 1
      this.#count(user, -1)
    }
  }

  /** Keeps the run until its session is free. */
  add(run: ActiveRun): void {
    this.#bySession.set(run.session, run)
    this.#count(run.user, 1)
    void run.whenReleased.then(() => {
      this.#count(run.user, -1)
      if (this.#bySession.get(run.session) === run) this.#bySession.delete(run.session)
    })
  }

  /** Counts a reader of the session until the result is called; further calls have no effect. */
  attach(session: string): () => void {
    this.#readers.set(session, (this.#readers.get(session) ?? 0) + 1)
    let attached = true
    return () => {
      if (!attached) return
      attached = false
      const left = (this.#readers.get(session) ?? 1) - 1
      if (left > 0) {
        this.#readers.set(session, left)
        return
      }
      this.#readers.delete(session)
      for (const waiter of [...this.#waiting]) if (waiter.session === session) waiter.settle(true)
      const run = this.#bySession.get(session)
      if (run?.cancelOnDisconnect === true) run.cancel('the last reader left')
    }
  }

  #count(user: string, change: number): void {
    const count = (this.#perUser.get(user) ?? 0) + change
    if (count === 0) this.#perUser.delete(user)
    else this.#perUser.set(user, count)
  }
}
