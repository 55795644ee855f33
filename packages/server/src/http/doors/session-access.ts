import { MillraceError, type SessionInfo } from '@millrace/core'
import type { FastifyRequest } from 'fastify'
import type { HttpDeps } from '../deps.ts'

/** The session, if this request may use it. Another user's session looks like an unknown one (SPEC 6.2). */
export async function sessionForRequest(
  deps: Pick<HttpDeps, 'own'>,
  request: FastifyRequest,
  id: string,
): Promise<SessionInfo> {
  const session = await deps.own(request).log.get(id)
  if (session === undefined) throw new MillraceError('not-found', `no session ${id}`, { session: id })
  request.about.session = session.id
  return session
}
