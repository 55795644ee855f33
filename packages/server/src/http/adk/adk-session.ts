import { isJsonObject, type JsonObject, MillraceError, type SessionInfo } from '@millrace/core'
import type { FastifyRequest } from 'fastify'
import type { HttpDeps } from '../deps.ts'
import { userFor } from '../doors/access.ts'
import { type AdkSession, metadataKey, withName } from './session-json.ts'

export interface AdkPath {
  readonly app: string
  readonly user: string
  readonly id: string
}

/** The session of an ADK path. One of another app or user, or out of reach for this request, looks unknown (SPEC 6.2). */
export async function adkSessionAt(
  deps: HttpDeps,
  request: FastifyRequest,
  { app, user, id }: AdkPath,
): Promise<SessionInfo> {
  const session = await deps.own(request).log.get(id)
  if (session?.agent !== app || session.user !== user)
    throw new MillraceError('not-found', `Session not found: ${id}`, { session: id })
  request.about.session = id
  return session
}

/** The name of the app; a 404 when it is unknown. */
export function knownApp({ agents }: HttpDeps, app: string): string {
  if (agents.get(app) === undefined) throw new MillraceError('not-found', `unknown app ${app}`)
  return app
}

export const adkUser = (request: FastifyRequest, user: string): string => userFor(request, user)

/** The session as it is listed: without events, and with its name in the state, where adk-web looks for it. */
export function adkSessionSummary(info: SessionInfo): AdkSession {
  const { id, agent: appName, user: userId, updatedAt } = info
  return { id, appName, userId, state: withName({}, info.title), events: [], lastUpdateTime: updatedAt / 1000 }
}

/** The name that adk-web gives a session, in its state. Undefined where the state has none. */
export function nameIn(state: JsonObject): string | undefined {
  const metadata = state[metadataKey]
  const name = isJsonObject(metadata) ? metadata.displayName : undefined
  return typeof name === 'string' && name !== '' ? name.slice(0, 200) : undefined
}

/** The state without the name, which is the session's title. What else adk-web keeps beside the name stays. */
export function withoutName(state: JsonObject): JsonObject {
  const { [metadataKey]: metadata, ...rest } = state
  if (!isJsonObject(metadata)) return state
  const { displayName: _name, ...others } = metadata
  return Object.keys(others).length === 0 ? rest : { ...rest, [metadataKey]: others }
}
