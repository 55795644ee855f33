import type { SessionInfo } from '@millrace/core'
import type { FastifyRequest } from 'fastify'
import type { HttpDeps } from './deps.ts'

/** Deletes a session for good: what runs in it is stopped first, and the audit says who did it. */
export async function removeSession(deps: HttpDeps, request: FastifyRequest, session: SessionInfo): Promise<void> {
  await deps.engine.cancel(session.id)
  await deps.log.remove(session.id)
  const { id, agent, user } = session
  deps.audit({ at: deps.now(), action: 'session.delete', session: id, agent, user: request.principal ?? user })
}
