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
