import { type Dice, dice } from '../../packages/core/src/testing/dice.ts'
import { notifiedNames } from '../../packages/server/src/store/postgres/bell-rules.ts'
import { numberOf, SimDatabase } from './database.ts'
import { Replica } from './replica.ts'
import type { Follower } from './sim-bell.ts'
import { VirtualTime } from './virtual-time.ts'

export interface Settings {
  readonly seed: number
  readonly replicas: number
  readonly sessions: number
  /** The time in which all sessions start, in ms. */
  readonly duration: number
  /** In ms. */
  readonly leaseTtl: number
  readonly recoverEvery: number
  /** How often each of these happens: a process dies, one is cut off from the database, one sleeps, the disk is slow. */
  readonly crashes: number
  readonly cuts: number
  readonly sleeps: number
  readonly slowDisks: number
  readonly longestStep: number
  readonly steps: (session: number) => number
  readonly resumable: (session: number) => boolean
  readonly isFollowed: (session: number) => boolean
}

/** All replicas, their database, what happens to them, and what was seen. */
export class World {
  readonly settings: Settings
  readonly time = new VirtualTime()
  readonly db: SimDatabase
  readonly random: Dice
  readonly count = {
    refused: 0,
    asked: 0,
    races: 0,
    resume: 0,
    end: 0,
    notifications: 0,
    deliveries: 0,
    followers: 0,
    followed: 0,
  }
  /** Milliseconds from the loss of a run to its takeover. */
  readonly takeovers: number[] = []
  readonly #replicas: Replica[]
  readonly #lostAt = new Map<number, number>()
  readonly #listeners = new Map<number, Set<Replica>>()
  #slowUntil = 0
  #stamps = 0
  #begun = 0

  constructor(settings: Settings) {
    this.settings = settings
    this.db = new SimDatabase(settings.sessions)
    this.random = dice(settings.seed)
    this.#replicas = Array.from({ length: settings.replicas }, (_, id) => new Replica(this, id))
  }

  run(): void {
    const { sessions, duration } = this.settings
    this.#arrive()
    this.#plan(this.settings.crashes, (replica) => {
      if (!replica.isUp) return
      replica.crash()
      this.time.after(2_000 + this.random(60_000), () => replica.restart())
    })
    this.#plan(this.settings.cuts, (replica) => {
      replica.cutUntil = this.time.now + 1_000 + this.random(60_000)
      if (replica.isUp) replica.losesContact()
    })
    this.#plan(this.settings.sleeps, (replica) => {
      replica.asleepUntil = this.time.now + 1_000 + this.random(60_000)
      if (replica.isUp) replica.losesContact()
    })
    this.#plan(this.settings.slowDisks, () => {
      this.#slowUntil = this.time.now + 20_000
    })
    const isDone = (): boolean =>
      this.db.ended === sessions && this.count.followed === this.count.followers && this.#begun === sessions
    this.time.run(isDone, duration * 2 + 20 * this.settings.leaseTtl)
  }

  latency(): number {
    const quick = 1 + this.random(4)
    return this.time.now < this.#slowUntil ? quick * 150 : quick
  }

  newStamp(): number {
    this.#stamps += 1
    return this.#stamps
  }

  /** The process of the run can no longer write. */
  lost(session: number): void {
    if (!this.#lostAt.has(session)) this.#lostAt.set(session, this.time.now)
  }

  /** It was only late. */
  kept(session: number): void {
    this.#lostAt.delete(session)
  }

  takenOver(session: number): void {
    const since = this.#lostAt.get(session)
    this.#lostAt.delete(session)
    if (since !== undefined && !this.db.isEnded(session)) this.takeovers.push(this.time.now - since)
  }

  listens(session: number, replica: Replica): void {
    const all = this.#listeners.get(session) ?? new Set()
    this.#listeners.set(session, all.add(replica))
  }

  /** One in a hundred notifications is lost. PostgreSQL sends each to every replica; here those hear it that follow one of its sessions. */
  notify(payload: string): void {
    this.count.notifications += 1
    this.count.deliveries += this.#replicas.length
    const hearing = new Set<Replica>()
    for (const name of notifiedNames(payload).slice(1))
      for (const replica of this.#listeners.get(numberOf(name)) ?? []) hearing.add(replica)
    for (const replica of hearing)
      if (this.random(100) > 0)
        replica.after(this.latency(), () => (replica.isCut ? undefined : replica.bell.hear(payload)))
  }

  followed({ session }: Follower): void {
    this.count.followed += 1
    this.#listeners.delete(session)
  }

  reconnects(follower: Follower): void {
    this.time.after(200 + this.random(1000), () => {
      const replica = this.#any()
      if (replica.isUp) replica.bell.follow(follower)
      else this.reconnects(follower)
    })
  }

  #any(): Replica {
    return this.#replicas[this.random(this.#replicas.length)] as Replica
  }

  /** Sessions start one after the other; a client whose start came to nothing asks again, at any replica. */
  #arrive(): void {
    const { sessions, duration, isFollowed } = this.settings
    const session = this.#begun
    if (session === sessions) return
    this.#begun += 1
    const ask = (): void => {
      if (this.db.isStarted(session)) return
      const replica = this.#any()
      if (replica.isUp) replica.after(0, () => replica.begin(session))
      this.time.after(5_000, ask)
    }
    ask()
    if (isFollowed(session)) {
      this.count.followers += 1
      this.reconnects({ session, cursor: 0, isDone: false })
    }
    this.time.after((duration / sessions) * (this.random(2001) / 1000), () => this.#arrive())
  }

  #plan(times: number, happens: (replica: Replica) => void): void {
    for (let i = 0; i < times; i++) this.time.after(this.random(this.settings.duration), () => happens(this.#any()))
  }
}
