import type { Lease, SessionInfo } from '@millrace/core'
import {
  acquire,
  checkWriter,
  deadRuns,
  type Granted,
  noLeases,
  release,
  renew,
  type SessionLeases,
  takeOver,
} from '@millrace/core/store'

/** Steps that are not the agent's: a run begins with the first of them and ends with the second. */
export const start = 0
export const end = 255
/** A run goes on in another process. */
export const resumed = 254

/** What must never happen, and how often it did. */
export interface Violations {
  twice: number
  endings: number
  gaps: number
}

export const runOf = 'r'
export const nameOf = (session: number): string => `s${session}`
export const numberOf = (name: string): number => Number(name.slice(1))

/** The log of all replicas: numbers instead of rows, so that a million sessions take little memory. The leases are real. */
export class SimDatabase {
  readonly lastSeq: Uint16Array
  readonly version: Uint16Array
  readonly stamp: Float64Array
  readonly #steps: Uint8Array
  readonly #ends: Uint8Array
  readonly #resumes: Uint8Array
  readonly #epochs: Uint16Array
  readonly #leases = new Map<number, SessionLeases>()
  readonly #byOwner = new Map<string, Set<number>>()
  /** Sessions with a lease, by the second in which the first of their leases runs out. */
  readonly #byEnd = new Map<number, Set<number>>()
  #oldest = 0
  started = 0
  ended = 0
  readonly violations: Violations = { twice: 0, endings: 0, gaps: 0 }

  constructor(sessions: number) {
    this.lastSeq = new Uint16Array(sessions)
    this.version = new Uint16Array(sessions)
    this.stamp = new Float64Array(sessions)
    this.#steps = new Uint8Array(sessions)
    this.#ends = new Uint8Array(sessions)
    this.#resumes = new Uint8Array(sessions)
    this.#epochs = new Uint16Array(sessions)
  }

  isStarted = (session: number): boolean => this.lastSeq[session] !== 0
  isEnded = (session: number): boolean => this.#ends[session] !== 0
  stepsOf = (session: number): number => this.#steps[session] ?? 0
  resumesOf = (session: number): number => this.#resumes[session] ?? 0

  acquire(session: number, owner: string, ttl: number, now: number): Lease {
    return this.#grant(session, acquire(this.#of(session), { session: nameOf(session), run: runOf, owner }, ttl, now))
  }

  renew(session: number, lease: Lease, ttl: number, now: number): Lease {
    return this.#grant(session, renew(this.#of(session), lease, ttl, now))
  }

  takeOver(session: number, dead: Lease, owner: string, ttl: number, now: number): Lease {
    return this.#grant(session, takeOver(this.#of(session), { ...dead, owner }, ttl, now))
  }

  release(session: number, lease: Lease): void {
    this.#keep(session, release(this.#of(session), lease))
  }

  /** One row. The lease is checked in the same statement. */
  append(session: number, step: number, lease: Lease, stamp: number): void {
    checkWriter(this.#of(session), nameOf(session), [{ run: runOf, event: empty }], lease)
    if (this.isEnded(session)) this.violations.endings += 1
    if (step === end) {
      this.#ends[session] = 1
      this.ended += 1
    } else if (step === resumed) this.#resumes[session] = this.resumesOf(session) + 1
    else if (step === start) {
      if (this.isStarted(session)) this.violations.twice += 1
      this.started += 1
    } else {
      if (step !== this.stepsOf(session) + 1) this.violations.twice += 1
      this.#steps[session] = step
    }
    this.lastSeq[session] = (this.lastSeq[session] ?? 0) + 1
    this.version[session] = (this.version[session] ?? 0) + 1
    this.stamp[session] = stamp
  }

  /** As `EventLog.expired`: the index finds candidates, and the rule of the real stores decides. */
  expired(owner: string, now: number): readonly Lease[] {
    const found = new Set(this.#byOwner.get(owner))
    const second = Math.floor(now / 1000)
    while (this.#oldest <= second && this.#byEnd.get(this.#oldest) === undefined) this.#oldest += 1
    for (let at = this.#oldest; at <= second; at++) for (const session of this.#byEnd.get(at) ?? []) found.add(session)
    const dead: Lease[] = []
    for (const session of found) dead.push(...deadRuns(this.#of(session), this.#info(session), now, owner))
    return dead
  }

  #info(session: number): SessionInfo {
    const id = nameOf(session)
    if (!this.isStarted(session)) return { id, status: 'idle', ...nobody }
    return { id, status: this.isEnded(session) ? 'done' : 'running', lastRun: runOf, ...nobody }
  }

  #of(session: number): SessionLeases {
    const held = this.#leases.get(session)
    return held ?? { ...noLeases, epoch: this.#epochs[session] ?? 0 }
  }

  #grant(session: number, { leases, lease }: Granted): Lease {
    this.#keep(session, leases)
    return lease
  }

  #keep(session: number, leases: SessionLeases): void {
    for (const lease of this.#leases.get(session)?.held ?? []) {
      drop(this.#byOwner, lease.owner, session)
      drop(this.#byEnd, Math.floor(lease.until / 1000), session)
    }
    this.#epochs[session] = leases.epoch
    if (leases.held.length === 0) this.#leases.delete(session)
    else this.#leases.set(session, leases)
    for (const { owner, until } of leases.held) {
      put(this.#byOwner, owner, session)
      const second = Math.floor(until / 1000)
      put(this.#byEnd, second, session)
      this.#oldest = Math.min(this.#oldest, second)
    }
  }
}

const empty = { kind: 'log', level: 'info', message: '' } as const
const nobody = { user: 'u', agent: 'a', title: '', lastSeq: 0, events: 0, runs: 0, createdAt: 0, updatedAt: 0 }

function put<K>(index: Map<K, Set<number>>, key: K, session: number): void {
  const sessions = index.get(key)
  if (sessions === undefined) index.set(key, new Set([session]))
  else sessions.add(session)
}
function drop<K>(index: Map<K, Set<number>>, key: K, session: number): void {
  const sessions = index.get(key)
  sessions?.delete(session)
  if (sessions?.size === 0) index.delete(key)
}
