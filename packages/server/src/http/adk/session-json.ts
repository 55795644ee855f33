import {
  adk,
  isJsonObject,
  isPartial,
  type JsonObject,
  type Recorded,
  type RunStarted,
  type SessionInfo,
  sessionFacts,
} from '@millrace/core'
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
export const metadataKey = '__session_metadata__'

/** Whose ADK session is made, for the thread that makes it. */
export interface AdkSessionOf {
  readonly info: SessionInfo
  readonly shared: JsonObject
}

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

/** The state with the name of the session. */
export function withName(state: JsonObject, title: string): JsonObject {
  const { [metadataKey]: before, ...rest } = state
  if (title === '') return state
  return { ...rest, [metadataKey]: { ...(isJsonObject(before) ? before : {}), displayName: title } }
}
