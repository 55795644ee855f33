import { type AcquireOptions, type Lease, MillraceError } from '@millrace/core'
import type { EngineParts } from './engine-parts.ts'

/**
 * The lease for a new run. A process that died between the end of a run and the release of its lease left the lease
 * behind: this process, which has its name, gives it back, and a session that is free is not called busy until recovery
 * has come to it. The caller makes sure that no run of the session is active in this process.
 */
export async function acquireLease(
  { log, owner, limits }: Pick<EngineParts, 'log' | 'owner' | 'limits'>,
  session: string,
  run: string,
  options: AcquireOptions = {},
): Promise<Lease> {
  const acquire = (): Promise<Lease> => log.acquire(session, run, owner, limits.leaseTtl, options)
  try {
    return await acquire()
  } catch (error) {
    if (!(error instanceof MillraceError) || error.code !== 'busy') throw error
    const left = (await log.expired(owner)).find((lease) => lease.session === session)
    if (left === undefined || (await log.get(session))?.status === 'running') throw error
    await log.release(await log.takeOver(left, owner, limits.leaseTtl))
    return acquire()
  }
}
