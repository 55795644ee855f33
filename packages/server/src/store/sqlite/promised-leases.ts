import type { Lease } from '@millrace/core'
import { acquire, type SessionLeases } from '@millrace/core/store'
import type { SessionRow } from './session-row.ts'

type PlaceOfLeases = Pick<SessionRow, 'key' | 'leases'>
type Wanted = Pick<Lease, 'session' | 'run' | 'owner'>

/**
 * Leases that are written with the first rows of their run, in one commit. Until then nothing of them is on the disk: if
 * the process ends before, no run has started.
 */
export interface PromisedLeases {
  /** A lease as it would be granted now. Throws `busy` as `acquire` does. */
  promise(session: PlaceOfLeases, wanted: Wanted, ttl: number): Lease
  /** The leases of the session, with the promised one if the holder has one that is not written yet. */
  with(session: PlaceOfLeases, holder: object | undefined): SessionLeases
  /** The start was given up before its first rows: the run can be started again at once. */
  giveUp(lease: object): void
}

export function promisedLeases(now: () => number): PromisedLeases {
  const promised = new WeakMap<object, Promised>()
  /** The newest promise of each session that is not written yet. */
  const pending = new Map<number, Lease>()
  return {
    promise: ({ key, leases }, wanted, ttl) => {
      const { lease } = acquire(withPending(leases, wanted.run, pending.get(key)), wanted, ttl, now())
      promised.set(lease, { key, after: leases.epoch, lease, ttl })
      pending.set(key, lease)
      return lease
    },
    with: ({ key, leases }, holder) => {
      const found = holder && promised.get(holder)
      // If the epoch of the session is another one by now, the promise is on the disk already, or another lease was granted
      // since. If the key differs, the session was removed and made again. The written leases decide then.
      if (found?.key !== key || leases.epoch !== found.after) return leases
      pending.delete(key)
      return acquire({ ...leases, epoch: found.lease.epoch - 1 }, found.lease, found.ttl, now()).leases
    },
    giveUp: (lease) => {
      const found = promised.get(lease)
      if (found === undefined) return
      promised.delete(lease)
      if (pending.get(found.key) === found.lease) pending.delete(found.key)
    },
  }
}

interface Promised {
  readonly key: number
  /** The epoch of the session when it was promised. */
  readonly after: number
  readonly lease: Lease
  readonly ttl: number
}

/** Two promises of one run with one epoch could both be written, so the second is `busy`, and later ones have other epochs. */
function withPending(leases: SessionLeases, run: string, before: Lease | undefined): SessionLeases {
  if (before === undefined || before.epoch <= leases.epoch) return leases
  return { epoch: before.epoch, held: before.run === run ? [...leases.held, before] : leases.held }
}
