import { MillraceError, type SessionInfo } from '@millrace/core'
import type { FastifyRequest } from 'fastify'
import type { HttpDeps } from '../deps.ts'
import { mayTouch } from './access.ts'

/** The session, if this request may use it. Another user's session looks like an unknown one (SPEC 6.2). */
export async function sessionForRequest(
  { log }: Pick<HttpDeps, 'log'>,
  request: FastifyRequest,
  id: string,
): Promise<SessionInfo> {
  const session = await log.get(id)
  if (session === undefined || !mayTouch(request, session)) {
    throw new MillraceError('not-found', `no session ${id}`, { session: id })
  }
  request.about.session = session.id
  return session
}
