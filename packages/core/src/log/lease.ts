import { MillraceError } from '../event/problem.ts'
import type { Draft } from '../event/run-event.ts'
import type { HeldLease, Lease, SessionInfo } from './event-log.ts'
import { checkNames } from './session-info.ts'

/** The leases of one session. At most one is live, except while a dead run is taken over to be ended. */
export interface SessionLeases {
  /** The highest epoch ever given out on this session. */
  readonly epoch: number
  readonly held: readonly Lease[]
}

export const noLeases: SessionLeases = { epoch: 0, held: [] }

/** The result of a lease operation: the leases from here on, and the one that was granted. */
export interface Granted {
  readonly leases: SessionLeases
  readonly lease: Lease
}

type Wanted = Pick<Lease, 'session' | 'run' | 'owner'>

export function isLive(leases: SessionLeases, now: number): boolean {
  return leases.held.some((lease) => lease.until > now)
}

export function acquire(leases: SessionLeases, wanted: Wanted, ttl: number, now: number): Granted {
  const { session, run, owner } = wanted
  if (run === '') throw new MillraceError('invalid', 'a run needs an id', { field: 'run' })
  checkNames({ run, owner })
  if (isLive(leases, now))
    throw new MillraceError('busy', `session ${session} has an active run; wait for its end or cancel it`, { session })
  const epoch = leases.epoch + 1
  // Leases that ran out get the new epoch too: their writers, if they wake up, are refused.
  const fenced = leases.held.map((lease) => ({ ...lease, epoch }))
  return grant({ epoch: leases.epoch, held: fenced }, wanted, now + ttl)
}

export function takeOver(
  leases: SessionLeases,
  wanted: Wanted & { readonly epoch?: number },
  ttl: number,
  now: number,
): Granted {
  const { session, run, owner, epoch } = wanted
  checkNames({ run, owner })
  if (epoch !== undefined && epoch !== leases.epoch) throw leaseLost({ session, run, epoch })
  return grant(leases, { session, run, owner }, now + ttl)
}

export function renew(leases: SessionLeases, lease: Lease, ttl: number, now: number): Granted {
  const renewed = { ...mustHold(leases, lease), until: now + ttl }
  return { leases: replace(leases, renewed, leases.epoch), lease: renewed }
}

export function release(leases: SessionLeases, lease: Pick<Lease, 'run' | 'epoch'>): SessionLeases {
  if (find(leases, lease) === undefined) return leases
  return { ...leases, held: leases.held.filter(({ run }) => run !== lease.run) }
}

/** SPEC 2.7: refuses a writer whose lease was taken over, and drafts of a run that the writer does not hold. */
export function checkWriter(
  leases: SessionLeases,
  session: string,
  drafts: readonly Draft[],
  lease: Pick<Lease, 'run' | 'epoch'> | undefined,
): void {
  if (lease !== undefined) mustHold(leases, { session, run: lease.run, epoch: lease.epoch })
  const own = lease?.run ?? ''
  for (const { run } of drafts) {
    if (run !== own) throw new MillraceError('lease-lost', `the writer holds no lease for run ${run}`, { session, run })
  }
}

/** The runs of this session whose writer is dead: see `EventLog.expired`. */
export function deadRuns(leases: SessionLeases, info: SessionInfo, now: number, owner?: string): readonly Lease[] {
  const dead = leases.held.filter((lease) => lease.until <= now || lease.owner === owner)
  const { id: session, status, lastRun: run } = info
  if (status !== 'running' || run === undefined || leases.held.some((lease) => lease.run === run)) return dead
  return [...dead, { session, run, owner: '', epoch: leases.epoch, until: 0 }]
}

/** `EventLog.heldBy`, from the leases of all sessions that have any. */
export function heldBy(
  owner: string,
  sessions: readonly { readonly user: string; readonly held: readonly Lease[] }[],
): readonly HeldLease[] {
  const leased = new Map<string, number>()
  for (const { user } of sessions) leased.set(user, (leased.get(user) ?? 0) + 1)
  return sessions
    .flatMap(({ user, held }) => held.map((lease) => ({ ...lease, user, leased: leased.get(user) ?? 0 })))
    .filter((lease) => lease.owner === owner)
    .sort((a, b) => a.until - b.until)
}

function grant(leases: SessionLeases, { session, run, owner }: Wanted, until: number): Granted {
  const epoch = leases.epoch + 1
  const lease = { session, run, owner, epoch, until }
  return { leases: replace(leases, lease, epoch), lease }
}

function replace(leases: SessionLeases, lease: Lease, epoch: number): SessionLeases {
  return { epoch, held: [...leases.held.filter(({ run }) => run !== lease.run), lease] }
}

function find(leases: SessionLeases, { run, epoch }: Pick<Lease, 'run' | 'epoch'>): Lease | undefined {
  return leases.held.find((lease) => lease.run === run && lease.epoch === epoch)
}

function mustHold(leases: SessionLeases, lease: Pick<Lease, 'session' | 'run' | 'epoch'>): Lease {
  const held = find(leases, lease)
  if (held === undefined) throw leaseLost(lease)
  return held
}

function leaseLost({ session, run, epoch }: Pick<Lease, 'session' | 'run' | 'epoch'>): MillraceError {
  return new MillraceError('lease-lost', `run ${run} was taken over`, { session, run, epoch })
}
