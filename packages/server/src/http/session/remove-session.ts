import { setTimeout } from 'node:timers/promises'
import { MillraceError, type SessionInfo } from '@millrace/core'
import type { FastifyRequest } from 'fastify'
import type { HttpDeps } from '../deps.ts'

/** How often and how long to wait for a stopped run to let go, in milliseconds. */
const patience = { tries: 100, wait: 20 }

/** Deletes a session for good: what runs in it is stopped first, and the audit says who did it. */
export async function removeSession(deps: HttpDeps, request: FastifyRequest, session: SessionInfo): Promise<void> {
  for (let left = patience.tries; ; left -= 1) {
    await deps.engine.cancel(session.id)
    try {
      await deps.log.remove(session.id)
      break
    } catch (error) {
      // The end of a run is written a moment before its lease is given back; another may even have begun meanwhile.
      if (!(error instanceof MillraceError && error.code === 'busy') || left === 0) throw error
      await setTimeout(patience.wait)
    }
  }
  const { id, agent, user } = session
  deps.audit({ at: deps.now(), action: 'session.delete', session: id, agent, user: request.principal ?? user })
}
