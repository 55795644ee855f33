import {
  adk,
  isPartial,
  type JsonObject,
  MillraceError,
  type Recorded,
  type RunStarted,
  type SessionInfo,
  sessionFacts,
} from '@millrace/core'
import type { FastifyRequest } from 'fastify'
import type { HttpDeps } from '../deps.ts'
import { mayTouch, userFor } from '../doors/access.ts'

/** An ADK session as adk-web reads it. `lastUpdateTime` and event timestamps are in seconds there. */
export interface AdkSession {
  readonly id: string
  readonly appName: string
  readonly userId: string
  readonly state: JsonObject
  readonly events: readonly JsonObject[]
  readonly lastUpdateTime: number
}

/** The state key in which adk-web keeps the name that a person gave a session. */
export const metadataKey = '__session_metadata__'

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
  const session = await deps.log.get(id)
  const known = session !== undefined && session.agent === app && session.user === user && mayTouch(request, session)
  if (!known) throw new MillraceError('not-found', `Session not found: ${id}`, { session: id })
  request.about.session = id
  return session
}

/** The name of the app; a 404 when it is unknown. */
export function knownApp({ agents }: HttpDeps, app: string): string {
  if (agents.get(app) === undefined) throw new MillraceError('not-found', `unknown app ${app}`)
  return app
}

export const adkUser = (request: FastifyRequest, user: string): string => userFor(request, user)

/** `shared` has the newest values of the keys that sessions share: as in ADK, they replace what the session had. */
export function adkSession(info: SessionInfo, rows: readonly Recorded[], shared: JsonObject): AdkSession {
  return {
    id: info.id,
    appName: info.agent,
    userId: info.user,
    state: withName({ ...sessionFacts(rows).state, ...shared }, info.title),
    events: adkEvents(info.id, rows),
    lastUpdateTime: info.updatedAt / 1000,
  }
}

/** The events of an ADK session: the messages of the user, and every event that is not a partial, as the dialect prints it. */
export function adkEvents(session: string, rows: readonly Recorded[]): readonly JsonObject[] {
  const encoder = adk.encoder({ session })
  return rows.flatMap((row) => {
    const frames = encoder.push(row)
    if (row.event.kind === 'run.started') return userEvents(row, row.event)
    if (row.event.kind === 'run.finished' || row.event.kind === 'foreign') return []
    // ADK's sessions have no event for an edit of the state by a person; the state itself has it.
    if (row.event.kind === 'state' && row.run === '') return []
    if (row.event.kind === 'agent' && isPartial(row.event.event)) return []
    return frames.flatMap(({ data }) => (data === '' ? [] : [JSON.parse(data) as JsonObject]))
  })
}

function userEvents({ run, at }: Recorded, { input }: RunStarted): readonly JsonObject[] {
  return input.messages
    .filter(({ role }) => role === 'user' || role === 'tool')
    .map(({ id, content }) => ({
      id,
      author: 'user',
      invocationId: run,
      timestamp: at / 1000,
      content: { role: 'user', parts: JSON.parse(JSON.stringify(content.parts ?? [])) },
      actions: { stateDelta: {}, artifactDelta: {} },
    }))
}

/** The session as it is listed: without events, and with its name in the state, where adk-web looks for it. */
export function adkSessionSummary(info: SessionInfo): AdkSession {
  const { id, agent: appName, user: userId, updatedAt } = info
  return { id, appName, userId, state: withName({}, info.title), events: [], lastUpdateTime: updatedAt / 1000 }
}

function withName(state: JsonObject, title: string): JsonObject {
  return title === '' ? state : { ...state, [metadataKey]: { displayName: title } }
}
