import { setTimeout } from 'node:timers/promises'
import { type EventLog, MillraceError, type SessionInfo } from '@millrace/core'
import type { FastifyRequest } from 'fastify'
import type { RunEngine } from '../../run/run-engine.ts'
import type { HttpDeps } from '../deps.ts'

/** How often to try while a cancelled run still holds its lease, and how many milliseconds to wait between tries. */
const patience = { tries: 100, wait: 20 }

/** Deletes a session, for good unless it is only `forNow`. Its active run is cancelled first, and the audit records who deleted it. */
export async function removeSession(
  deps: HttpDeps,
  request: FastifyRequest,
  session: SessionInfo,
  forNow = false,
): Promise<void> {
  const { log, engine } = deps.own(request)
  const remove = forNow ? log.removeForNow : log.remove
  await cancelAndRemove({ log: { remove }, engine }, session.id)
  const { id, agent, user } = session
  deps.audit({ at: deps.now(), action: 'session.delete', session: id, agent, user: request.principal ?? user })
}

export async function cancelAndRemove(
  { log, engine }: { readonly log: Pick<EventLog, 'remove'>; readonly engine: Pick<RunEngine, 'cancel'> },
  session: string,
): Promise<void> {
  for (let left = patience.tries; ; left -= 1) {
    await engine.cancel(session)
    try {
      await log.remove(session)
      break
    } catch (error) {
      // A run releases its lease a moment after its end is written, and another run may have started meanwhile.
      if (!(error instanceof MillraceError && error.code === 'busy') || left === 0) throw error
      await setTimeout(patience.wait)
    }
  }
}
