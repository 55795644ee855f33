import type { ArtifactSaved, EventLog, JsonObject, Recorded, SharedScope } from '@millrace/core'
import { isSharedArtifact, sharedUser, shareState, writesShared } from '@millrace/core/store'
import type { PgConnection, PgRow, Query } from './connection.ts'

/** Names are JSON text, because a name may hold U+0000. */
const stateOf = `SELECT name, value FROM shared_state WHERE agent = $1 AND user_name IN ($2, '')`

/** The statements that keep what these rows share with other sessions, for the transaction that records them. */
export function sharing(
  scope: SharedScope,
  rows: readonly Recorded[],
  bodies: readonly string[],
  at: number,
): readonly ((query: Query) => Promise<void>)[] {
  return rows.flatMap(({ run, event }, i) => {
    const statements: ((query: Query) => Promise<void>)[] = []
    if (isSharedArtifact(event)) statements.push((query) => saveArtifact(query, scope, event, bodies[i] ?? '', at))
    if (writesShared(run, event))
      statements.push(async (query) => {
        const before = stateIn(await query(`${stateOf} FOR UPDATE`, [scope.agent, scope.user]))
        await saveState(query, scope, before, shareState(before, run, event))
      })
    return statements
  })
}

async function saveArtifact(
  query: Query,
  { agent, user }: SharedScope,
  { name, version, deleted }: ArtifactSaved,
  body: string,
  at: number,
): Promise<void> {
  if (deleted === true)
    await query('DELETE FROM shared_artifact WHERE agent = $1 AND user_name = $2 AND name = $3', [
      agent,
      user,
      JSON.stringify(name),
    ])
  await query(
    `INSERT INTO shared_artifact (agent, user_name, name, version, saved_at, body) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (agent, user_name, name, version) DO UPDATE SET body = excluded.body, saved_at = excluded.saved_at`,
    [agent, user, JSON.stringify(name), version, at, body],
  )
}

async function saveState(query: Query, scope: SharedScope, before: JsonObject, after: JsonObject): Promise<void> {
  for (const [name, value] of Object.entries(after)) {
    if (value === before[name]) continue
    await query(
      `INSERT INTO shared_state (agent, user_name, name, value) VALUES ($1, $2, $3, $4)
       ON CONFLICT (agent, user_name, name) DO UPDATE SET value = excluded.value`,
      [scope.agent, sharedUser(name, scope), JSON.stringify(name), JSON.stringify(value)],
    )
  }
  for (const name of Object.keys(before)) {
    if (Object.hasOwn(after, name)) continue
    await query('DELETE FROM shared_state WHERE agent = $1 AND user_name = $2 AND name = $3', [
      scope.agent,
      sharedUser(name, scope),
      JSON.stringify(name),
    ])
  }
}

export function pgSharedReads(
  { query }: PgConnection,
  checkOpen: () => void,
): Pick<EventLog, 'sharedState' | 'sharedArtifacts' | 'forgetUser'> {
  return {
    forgetUser: async (user) => {
      checkOpen()
      if (user === '') return // the values of all users
      for (const table of ['shared_state', 'shared_artifact'])
        await query(`DELETE FROM ${table} WHERE user_name = $1`, [user])
    },
    sharedState: async ({ agent, user }) => {
      checkOpen()
      return stateIn(await query(stateOf, [agent, user]))
    },
    sharedArtifacts: async ({ agent, user }) => {
      checkOpen()
      const rows = await query(
        'SELECT body FROM shared_artifact WHERE agent = $1 AND user_name = $2 ORDER BY saved_at, name, version',
        [agent, user],
      )
      return rows.map(([body]): ArtifactSaved => JSON.parse(String(body)))
    },
  }
}

function stateIn(rows: readonly PgRow[]): JsonObject {
  return Object.fromEntries(rows.map(([name, value]) => [JSON.parse(String(name)), JSON.parse(String(value))]))
}
