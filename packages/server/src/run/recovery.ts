/**
 * The rules of leases in time, without a clock: what a run does to keep its lease, and what becomes of a run whose lease
 * was taken over. `bench/simulate.ts` runs them with a thousand replicas.
 */

/** How often a run renews its lease, in ms: two heartbeats may be lost. */
export function heartbeatEvery(leaseTtl: number): number {
  return leaseTtl / 3
}

/** Whether a lease was not renewed for its whole term: another process may write now, so this one must stop. */
export function isOverdue(renewed: number, now: number, leaseTtl: number): boolean {
  return now - renewed >= leaseTtl
}

/** What becomes of a run that was taken over. `resumable` says that its agent can go on, and that it may once more. */
export function recoveryOf({
  isEnded,
  resumable = false,
}: {
  readonly isEnded: boolean
  readonly resumable?: boolean
}): 'release' | 'resume' | 'end' {
  if (isEnded) return 'release' // the process died between the end of the run and the release of its lease
  return resumable ? 'resume' : 'end'
}

/** A replica that lost so many races leaves the rest of its list to those that won them, until its next round. */
export const maxLostRaces = 3

/**
 * The dead runs in an order of this process's own: replicas that find them at the same moment begin with different ones,
 * instead of all racing for the first.
 */
export function inOwnOrder<T extends { readonly session: string }>(dead: readonly T[], owner: string): readonly T[] {
  if (dead.length < 2) return dead
  return dead
    .map((lease) => ({ lease, rank: rankOf(`${lease.session} ${owner}`) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ lease }) => lease)
}

/** FNV-1a, and a mix at the end, because names that differ in their last character must be far apart too. */
function rankOf(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (hash ^ (hash >>> 13)) >>> 0
}
