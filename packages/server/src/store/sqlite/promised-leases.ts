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
}

export function promisedLeases(now: () => number): PromisedLeases {
  const promised = new WeakMap<object, { readonly key: number; readonly lease: Lease; readonly ttl: number }>()
  return {
    promise: ({ key, leases }, wanted, ttl) => {
      const { lease } = acquire(leases, wanted, ttl, now())
      promised.set(lease, { key, lease, ttl })
      return lease
    },
    with: ({ key, leases }, holder) => {
      const found = holder && promised.get(holder)
      // If the epoch of the session has reached that of the promise, the promise is on the disk already, or another lease
      // was granted since. If the key differs, the session was removed and made again. The written leases decide then.
      if (found?.key !== key || leases.epoch + 1 !== found.lease.epoch) return leases
      return acquire(leases, found.lease, found.ttl, now()).leases
    },
  }
}
