import {
  adk,
  isJsonObject,
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
import { userFor } from '../doors/access.ts'
import { invocations } from './invocations.ts'

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
const metadataKey = '__session_metadata__'

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

/**
 * The events of an ADK session: the messages of the user, and every event that is not a partial, as the dialect prints
 * it. The same events come live from `/run_sse` without streaming.
 */
export function adkEvents(session: string, rows: readonly Recorded[]): readonly JsonObject[] {
  const encoder = adk.encoder({ session })
  const invocationOf = invocations(rows)
  return rows.flatMap((row) => {
    const frames = encoder.push(row)
    const { event, run } = row
    if (event.kind === 'run.started') return userEvents(row, event, invocationOf(run))
    if (event.kind === 'foreign') return []
    // ADK's sessions have no event for an edit of the state by a person; the state itself has it.
    if (event.kind === 'state' && run === '') return []
    if (event.kind === 'agent' && isPartial(event.event)) return []
    const printed = frames.flatMap(({ data }) => (data === '' ? [] : [JSON.parse(data) as JsonObject]))
    // An error frame is no event. Events that the encoder made carry the id of the run.
    return printed
      .filter(({ author }) => author !== undefined)
      .map((made) => (made.invocationId === run && run !== '' ? { ...made, invocationId: invocationOf(run) } : made))
  })
}

function userEvents({ at }: Recorded, { input }: RunStarted, invocationId: string): readonly JsonObject[] {
  return input.messages
    .filter(({ role }) => role === 'user' || role === 'tool')
    .map(({ id, content }) => ({
      id,
      author: 'user',
      invocationId,
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

function withName(state: JsonObject, title: string): JsonObject {
  const { [metadataKey]: before, ...rest } = state
  if (title === '') return state
  return { ...rest, [metadataKey]: { ...(isJsonObject(before) ? before : {}), displayName: title } }
}
