import type { ArtifactSaved, EventLog, JsonObject, Recorded, SharedScope } from '@millrace/core'
import { isSharedArtifact, sharedUser, shareState, writesShared } from '@millrace/core/store'
import type { ReadConnection, Row, WriteConnection } from './connection.ts'

/** Keeps what an event shares with other sessions. Called inside the transaction that records the event. */
export type Share = (scope: SharedScope, row: Recorded, body: string) => void

const stateOf = `SELECT json_group_array(json_array(name, json(value))) FROM shared_state
  WHERE agent = ? AND user IN (?, '')`

/** Whether any session has shared anything: as long as none has, a run that starts asks for nothing. */
export interface AnythingShared {
  state: boolean
}

export function anythingShared(reader: ReadConnection): AnythingShared {
  return { state: reader.prepare('SELECT 1 FROM shared_state LIMIT 1')([]).length > 0 }
}

export async function sharedWrites(writer: WriteConnection, shared: AnythingShared): Promise<Share> {
  const read = await writer.prepare(stateOf)
  const put = await writer.prepare('INSERT OR REPLACE INTO shared_state (agent, user, name, value) VALUES (?, ?, ?, ?)')
  const drop = await writer.prepare('DELETE FROM shared_state WHERE agent = ? AND user = ? AND name = ?')
  const save = await writer.prepare(
    'INSERT INTO shared_artifact (agent, user, name, version, body) VALUES (?, ?, ?, ?, ?)',
  )
  const forget = await writer.prepare(
    'DELETE FROM shared_artifact WHERE agent = ? AND user = ? AND name = ? AND (?4 IS NULL OR version = ?4)',
  )
  return (scope, { run, event }, body) => {
    const { agent, user } = scope
    if (isSharedArtifact(event)) {
      forget.run([agent, user, event.name, event.deleted === true ? null : event.version])
      save.run([agent, user, event.name, event.version, body])
    }
    if (!writesShared(run, event)) return
    shared.state = true
    const before = stateIn(read.first([agent, user]))
    const after = shareState(before, run, event)
    for (const [name, value] of Object.entries(after)) {
      if (value !== before[name]) put.run([agent, sharedUser(name, scope), name, JSON.stringify(value)])
    }
    for (const name of Object.keys(before)) {
      if (!Object.hasOwn(after, name)) drop.run([agent, sharedUser(name, scope), name])
    }
  }
}

export function sharedReads(
  reader: ReadConnection,
  shared: AnythingShared,
  checkOpen: () => void,
): Pick<EventLog, 'sharedState' | 'sharedArtifacts'> {
  const state = reader.prepare(stateOf)
  const artifacts = reader.prepare('SELECT body FROM shared_artifact WHERE agent = ? AND user = ? ORDER BY id')
  return {
    sharedState: async ({ agent, user }) => {
      checkOpen()
      return shared.state ? stateIn(state([agent, user])[0]) : {}
    },
    sharedArtifacts: async ({ agent, user }) => {
      checkOpen()
      return artifacts([agent, user]).map(([body]): ArtifactSaved => JSON.parse(String(body)))
    },
  }
}

function stateIn(row: Row | undefined): JsonObject {
  return Object.fromEntries(JSON.parse(String(row?.[0] ?? '[]')))
}
