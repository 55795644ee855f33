import { type Lease, MillraceError } from '@millrace/core'
import {
  heartbeatEvery,
  inOwnOrder,
  isOverdue,
  maxLostRaces,
  recoveryOf,
} from '../../packages/server/src/run/recovery.ts'
import { isLost } from '../../packages/server/src/run/writer.ts'
import { writeOutcome } from '../../packages/server/src/store/postgres/session-queue.ts'
import { end, numberOf, resumed, start } from './database.ts'
import { SimBell } from './sim-bell.ts'
import type { World } from './world.ts'

interface Run {
  readonly session: number
  /** Undefined until the lease is granted. */
  lease: Lease | undefined
  renewed: number
}

/** How often one run is resumed, as `RunLimits.resumes`. */
const maxResumes = 3
/** After no answer, the same is asked again, in ms. */
const again = 500

/** One server process: it keeps the leases of its runs, writes their steps and takes over those of dead ones. */
export class Replica {
  readonly id: number
  readonly #world: World
  /** Grows with each crash: what an earlier process waited for is forgotten. */
  life = 0
  isUp = true
  cutUntil = 0
  asleepUntil = 0
  bell: SimBell
  readonly #runs = new Map<number, Run>()

  constructor(world: World, id: number) {
    this.id = id
    this.#world = world
    this.bell = new SimBell(world, this)
    this.#begin()
  }

  get owner(): string {
    return `${this.id}:${this.life}`
  }

  get isCut(): boolean {
    return this.#world.time.now < this.cutUntil
  }

  #begin(): void {
    const { recoverEvery } = this.#world.settings
    const round = (): void => this.#recover(() => this.after(recoverEvery, round))
    this.after(this.#world.random(recoverEvery), round)
  }

  /** Later, in this process, when it is awake. */
  after(ms: number, work: () => void): void {
    const { time } = this.#world
    const { life } = this
    const wake = (): void => {
      if (!this.isUp || life !== this.life) return
      if (time.now < this.asleepUntil) time.after(this.asleepUntil - time.now, wake)
      else work()
    }
    time.after(ms, wake)
  }

  /** A statement. Its answer may be lost after it ran, or it may never arrive. */
  ask<T>(statement: () => T, answered: (value: T) => void, failed: (error: unknown) => void): void {
    const { time } = this.#world
    const silence = (): void => this.after(again, () => failed(undefined))
    if (this.isCut) {
      silence()
      return
    }
    time.after(this.#world.latency(), () => {
      let value: T
      try {
        value = statement()
      } catch (error) {
        this.after(this.#world.latency(), () => (this.isCut ? silence() : failed(error)))
        return
      }
      const breaks = this.#world.random(1000) < 2
      this.after(this.#world.latency(), () => (this.isCut || breaks ? silence() : answered(value)))
    })
  }

  begin(session: number): void {
    const { db, settings, time } = this.#world
    if (this.#runs.has(session)) return
    const run: Run = { session, lease: undefined, renewed: time.now }
    this.#runs.set(session, run)
    this.ask(
      () => db.acquire(session, this.owner, settings.leaseTtl, time.now),
      (lease) => {
        run.lease = lease
        run.renewed = time.now
        this.#beat(run)
        if (!db.isStarted(session)) this.#write(run, start, () => this.#step(run, 1))
        // The request came late, and the run is there already: one that a dead process left open is ended.
        else if (db.isEnded(session)) this.#release(run)
        else this.#write(run, end, () => this.#release(run))
      },
      () => this.#abandon(run), // busy, or no answer: the client asks again
    )
  }

  crash(): void {
    this.losesContact()
    this.isUp = false
    this.#runs.clear()
    this.bell.close()
  }

  restart(): void {
    this.life += 1
    this.isUp = true
    this.bell = new SimBell(this.#world, this)
    this.#begin()
  }

  /** The runs that it can no longer keep, from now on. */
  losesContact(): void {
    for (const { session, lease } of this.#runs.values()) if (lease !== undefined) this.#world.lost(session)
  }

  #step(run: Run, step: number): void {
    const { steps, longestStep } = this.#world.settings
    if (step > steps(run.session)) {
      this.#write(run, end, () => this.#release(run))
      return
    }
    this.after(100 + this.#world.random(longestStep), () => {
      if (this.#runs.get(run.session) === run) this.#write(run, step, () => this.#step(run, step + 1))
    })
  }

  /** Writes one row, once: after a lost answer it finds out what happened, as the real queue does. */
  #write(run: Run, step: number, done: () => void): void {
    const { db, time } = this.#world
    const { session } = run
    const stamp = this.#world.newStamp()
    const refused = (error: unknown): void => {
      if (isLost(error)) this.#world.count.refused += 1
      this.#abandon(run)
    }
    const written = (): void => {
      this.bell.ring(session)
      done()
    }
    const from = db.version[session] ?? 0
    const attempt = (): void => {
      if (run.lease === undefined || this.#runs.get(session) !== run) return
      const { lease } = run
      this.ask(() => db.append(session, step, lease, stamp), written, unsure)
    }
    const unsure = (error: unknown): void => {
      if (error instanceof MillraceError) {
        refused(error)
        return
      }
      if (this.#runs.get(session) !== run || isOverdue(run.renewed, time.now, this.#world.settings.leaseTtl)) {
        this.#abandon(run)
        return
      }
      this.ask(
        () => {
          const row = { version: db.version[session] ?? 0, stamp: String(db.stamp[session]) }
          const outcome = writeOutcome(from, String(stamp), row)
          const has =
            step === end ? db.isEnded(session) : step < resumed && db.stepsOf(session) >= step && db.isStarted(session)
          return outcome === 'unknown' ? (has ? 'written' : 'changed') : outcome
        },
        (outcome) => {
          this.#world.count.asked += 1
          if (outcome === 'written') written()
          else attempt()
        },
        unsure,
      )
    }
    attempt()
  }

  #beat(run: Run): void {
    const { db, settings, time } = this.#world
    this.after(heartbeatEvery(settings.leaseTtl), () => {
      const { lease } = run
      if (this.#runs.get(run.session) !== run || lease === undefined) return
      const sent = time.now
      this.ask(
        () => db.renew(run.session, lease, settings.leaseTtl, time.now),
        (renewed) => {
          run.lease = renewed
          run.renewed = sent
          this.#world.kept(run.session)
        },
        (error) => {
          if (isLost(error) || isOverdue(run.renewed, time.now, settings.leaseTtl)) this.#abandon(run)
        },
      )
      this.#beat(run)
    })
  }

  #abandon(run: Run): void {
    if (this.#runs.get(run.session) === run) this.#runs.delete(run.session)
  }

  #release(run: Run): void {
    const { lease, session } = run
    this.#abandon(run)
    // A lease that cannot be released runs out; recovery then finds that the run has its end.
    if (lease !== undefined)
      this.ask(
        () => this.#world.db.release(session, lease),
        () => undefined,
        () => undefined,
      )
  }

  #recover(done: () => void): void {
    const { db, time } = this.#world
    this.ask(
      () => db.expired(this.owner, time.now),
      (dead) => this.#takeNext(inOwnOrder(dead, this.owner).toReversed(), 0, done),
      done,
    )
  }

  #takeNext(dead: Lease[], lost: number, done: () => void): void {
    const { db, settings, time } = this.#world
    const next = dead.pop()
    if (next === undefined || lost === maxLostRaces) {
      done()
      return
    }
    const session = numberOf(next.session)
    const more = (races = lost): void => this.#takeNext(dead, races, done)
    // The run is active in this process: only its heartbeat is late.
    if (this.#runs.has(session)) {
      more()
      return
    }
    this.ask(
      () => {
        const lease = db.takeOver(session, next, this.owner, settings.leaseTtl, time.now)
        this.#world.takenOver(session)
        return lease
      },
      (lease) => {
        this.#adopt({ session, lease, renewed: time.now }, next)
        more()
      },
      () => {
        this.#world.count.races += 1
        more(lost + 1)
      },
    )
  }

  #adopt(run: Run, dead: Lease): void {
    const { db, settings } = this.#world
    const { session } = run
    const resumable = settings.resumable(session) && dead.owner !== '' && db.resumesOf(session) < maxResumes
    const what = recoveryOf({ isEnded: db.isEnded(session), resumable })
    // Without a start there is nothing to end: the client asks again.
    if (what === 'release' || !db.isStarted(session)) {
      this.#release(run)
      return
    }
    this.#runs.set(session, run)
    this.#beat(run)
    this.#world.count[what] += 1
    if (what === 'end') this.#write(run, end, () => this.#release(run))
    else this.#write(run, resumed, () => this.#step(run, db.stepsOf(session) + 1))
  }
}
