import type { EventLog, Lease } from '@millrace/core'
import { acquire, type Granted, renew, type SessionLeases, takeOver } from '@millrace/core/store'

/** Changes the leases of a session as `decide` says, and resolves with the lease once that is durable. */
export type Grant = (session: string, decide: (leases: SessionLeases) => Granted) => Promise<Lease>

/** The lease operations that give a lease, for any store that can change the leases of a session. */
export function leaseGrants(grant: Grant, now: () => number): Pick<EventLog, 'acquire' | 'renew' | 'takeOver'> {
  return {
    acquire: (session, run, owner, ttl) =>
      grant(session, (leases) => acquire(leases, { session, run, owner }, ttl, now())),
    renew: (lease, ttl) => grant(lease.session, (leases) => renew(leases, lease, ttl, now())),
    takeOver: (dead, owner, ttl) => grant(dead.session, (leases) => takeOver(leases, { ...dead, owner }, ttl, now())),
  }
}
