import type { SharedArtifact, SharedValue, WholeStore } from '../whole-store.ts'
import type { PgConnection, PgRow } from './connection.ts'

type Shared = Pick<WholeStore, 'values' | 'putValues' | 'findValue' | 'artifacts' | 'putArtifacts' | 'findArtifact'>

/** What the sessions of a user share, for a move. Names are JSON text in these tables. */
export function wholePostgresShared({ query, transaction }: PgConnection): Shared {
  const one = async (sql: string, values: readonly (string | number)[]): Promise<string | undefined> => {
    const [[found] = []] = await query(sql, values)
    return found === undefined ? undefined : String(found)
  }
  const valueAfter = (last: readonly [string, string, string]): Promise<readonly PgRow[]> =>
    query(
      `SELECT agent, user_name, name, value FROM shared_state WHERE (agent, user_name, name) > ($1, $2, $3)
       ORDER BY agent, user_name, name LIMIT 100`,
      last,
    )
  const bodyOf = 'SELECT body FROM shared_artifact WHERE agent = $1 AND user_name = $2 AND name = $3 AND version = $4'
  return {
    values: async function* () {
      let page = await valueAfter(['', '', ''])
      while (page.length > 0) {
        for (const [agent, user, name, value] of page)
          yield {
            agent: String(agent),
            user: String(user),
            name: JSON.parse(String(name)),
            value: String(value),
          } satisfies SharedValue
        const [agent, user, name] = page.at(-1) ?? []
        page = await valueAfter([String(agent), String(user), String(name)])
      }
    },
    findValue: ({ agent, user, name }) =>
      one('SELECT value FROM shared_state WHERE agent = $1 AND user_name = $2 AND name = $3', [
        agent,
        user,
        JSON.stringify(name),
      ]),
    putValues: (values) =>
      transaction(async (inside) => {
        for (const { agent, user, name, value } of values)
          await inside('INSERT INTO shared_state (agent, user_name, name, value) VALUES ($1, $2, $3, $4)', [
            agent,
            user,
            JSON.stringify(name),
            value,
          ])
      }),
    artifacts: async function* () {
      const scopesAfter = (agent: string, user: string): Promise<readonly PgRow[]> =>
        query(
          `SELECT DISTINCT agent, user_name FROM shared_artifact WHERE (agent, user_name) > ($1, $2)
           ORDER BY agent, user_name LIMIT 100`,
          [agent, user],
        )
      let scopes = await scopesAfter('', '')
      while (scopes.length > 0) {
        for (const [agent, user] of scopes.map((row) => row.map(String)) as [string, string][]) {
          const keys = await query(
            'SELECT name, version FROM shared_artifact WHERE agent = $1 AND user_name = $2 ORDER BY saved_at, name, version',
            [agent, user],
          )
          for (const [name, version] of keys) {
            const body = await one(bodyOf, [agent, user, String(name), Number(version)])
            if (body === undefined) continue
            const key = { agent, user, name: JSON.parse(String(name)), version: Number(version) }
            yield { ...key, body } satisfies SharedArtifact
          }
        }
        const [agent, user] = scopes.at(-1) ?? []
        scopes = await scopesAfter(String(agent), String(user))
      }
    },
    findArtifact: ({ agent, user, name, version }) => one(bodyOf, [agent, user, JSON.stringify(name), version]),
    putArtifacts: (artifacts) =>
      transaction(async (inside) => {
        // SQLite knows their order only. A time before all others keeps it: what is saved later comes after them.
        const [[last] = []] = await inside(
          'SELECT coalesce(max(saved_at), 0) FROM shared_artifact WHERE saved_at < 1e9',
        )
        for (const [i, { agent, user, name, version, body }] of artifacts.entries())
          await inside(
            'INSERT INTO shared_artifact (agent, user_name, name, version, saved_at, body) VALUES ($1, $2, $3, $4, $5, $6)',
            [agent, user, JSON.stringify(name), version, Number(last) + 1 + i, body],
          )
      }),
  }
}
