import { LookPace, lookedAt, nextPayload, notifiedNames } from '../../packages/server/src/store/postgres/bell-rules.ts'
import { newTails } from '../../packages/server/src/store/tail.ts'
import { nameOf, numberOf } from './database.ts'
import type { Replica } from './replica.ts'
import type { World } from './world.ts'

/** A client that follows a session at one replica, and goes to another one when that dies. */
export interface Follower {
  readonly session: number
  cursor: number
  isDone: boolean
}

/** The doorbell of one process: the rules and the tails are the real ones, notifications are messages that may be lost. */
export class SimBell {
  readonly #world: World
  readonly #replica: Replica
  readonly #tails = newTails()
  readonly #pace = new LookPace()
  readonly #changed = new Set<string>()
  readonly #followers = new Map<Follower, () => void>()
  #isSending = false
  #isLooking = false

  constructor(world: World, replica: Replica) {
    this.#world = world
    this.#replica = replica
  }

  ring(session: number): void {
    const name = nameOf(session)
    const seq = this.#world.db.lastSeq[session] ?? 0
    this.#tails.publish(name, () => [{ seq, at: 0, run: '', kind: 'other', body: '' }])
    this.#changed.add(name)
    if (!this.#isSending) this.#send()
  }

  follow(follower: Follower): void {
    const name = nameOf(follower.session)
    let isReading = false
    let again = false
    const read = (): void => {
      if (follower.isDone || !this.#followers.has(follower)) return
      again = isReading
      if (isReading) return
      isReading = true
      const { db } = this.#world
      const next = (): void => {
        isReading = false
        if (again) read()
      }
      this.#replica.ask(
        () => ({ last: db.lastSeq[follower.session] ?? 0, isEnded: db.isEnded(follower.session) }),
        ({ last, isEnded }) => {
          if (last < follower.cursor) db.violations.gaps += 1
          follower.cursor = last
          if (isEnded) {
            follower.isDone = true
            this.#leave(follower)
            this.#world.followed(follower)
          } else next()
        },
        // A read that fails is tried again, by the store or by the client that then comes back.
        () => {
          again = true
          next()
        },
      )
    }
    const tail = this.#tails.subscribe(name, read)
    this.#followers.set(follower, tail.leave)
    this.#world.listens(follower.session, this.#replica)
    read()
    this.#pace.quicken()
    this.#look()
  }

  hear(payload: string): void {
    const [from, ...names] = notifiedNames(payload)
    if (from !== this.#replica.owner) for (const name of names) this.#tails.behind(name, undefined)
  }

  /** The process is gone: its followers go to other ones. */
  close(): void {
    const followers = [...this.#followers.keys()]
    for (const follower of followers) this.#leave(follower)
    for (const follower of followers) this.#world.reconnects(follower)
  }

  #leave(follower: Follower): void {
    this.#followers.get(follower)?.()
    this.#followers.delete(follower)
  }

  #send(): void {
    const payload = nextPayload(this.#replica.owner, this.#changed)
    this.#isSending = payload !== undefined && notifiedNames(payload).length > 1
    if (payload === undefined || !this.#isSending) return
    const next = (): void => this.#send()
    this.#replica.ask(() => this.#world.notify(payload), next, next)
  }

  #look(): void {
    if (this.#isLooking || this.#followers.size === 0) return
    this.#isLooking = true
    this.#replica.after(this.#pace.pause(!this.#replica.isCut), () => {
      this.#pace.slow()
      const seen = this.#tails.followed()
      const next = (): void => {
        this.#isLooking = false
        this.#look()
      }
      this.#replica.ask(
        () => new Map([...seen.keys()].map((name) => [name, this.#world.db.lastSeq[numberOf(name)] ?? 0])),
        (found) => {
          const { behind } = lookedAt(seen, found)
          for (const [name, seq] of behind) this.#tails.behind(name, seq)
          if (behind.length > 0) this.#pace.quicken()
          next()
        },
        next,
      )
    })
  }
}
