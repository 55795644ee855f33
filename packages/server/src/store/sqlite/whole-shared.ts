import type { SharedArtifact, SharedValue, WholeStore } from '../whole-store.ts'
import type { ReadConnection, WriteConnection } from './connection.ts'

type Shared = Pick<WholeStore, 'values' | 'putValues' | 'findValue' | 'artifacts' | 'putArtifacts' | 'findArtifact'>

/** What the sessions of a user share, for a move. An artifact may be large, so one page has few of them. */
export async function wholeSqliteShared(writer: WriteConnection, reader: ReadConnection): Promise<Shared> {
  const value = reader.prepare('SELECT value FROM shared_state WHERE agent = ? AND user = ? AND name = ?')
  const artifact = reader.prepare(
    'SELECT body FROM shared_artifact WHERE agent = ? AND user = ? AND name = ? AND version = ?',
  )
  const valuePage = reader.prepare(
    `SELECT agent, user, name, value FROM shared_state WHERE (agent, user, name) > (?, ?, ?)
     ORDER BY agent, user, name LIMIT 100`,
  )
  const artifactPage = reader.prepare(
    'SELECT id, agent, user, name, version, body FROM shared_artifact WHERE id > ? ORDER BY id LIMIT 5',
  )
  const putValue = await writer.prepare('INSERT INTO shared_state (agent, user, name, value) VALUES (?, ?, ?, ?)')
  const putArtifact = await writer.prepare(
    'INSERT INTO shared_artifact (agent, user, name, version, body) VALUES (?, ?, ?, ?, ?)',
  )
  const together = async (work: () => void): Promise<void> => {
    await writer.exec('BEGIN IMMEDIATE')
    try {
      work()
      await writer.exec('COMMIT')
    } catch (error) {
      await writer.exec('ROLLBACK').catch(() => undefined) // the first error counts
      throw error
    }
  }
  return {
    values: async function* () {
      let last: SharedValue = { agent: '', user: '', name: '', value: '' }
      for (;;) {
        const page = valuePage([last.agent, last.user, last.name]).map(([agent, user, name, text]): SharedValue => {
          return { agent: String(agent), user: String(user), name: String(name), value: String(text) }
        })
        yield* page
        const next = page.at(-1)
        if (next === undefined) return
        last = next
      }
    },
    findValue: async ({ agent, user, name }) => {
      const [[found] = []] = value([agent, user, name])
      return found === undefined ? undefined : String(found)
    },
    putValues: (values) =>
      together(() => {
        for (const { agent, user, name, value: text } of values) putValue.run([agent, user, name, text])
      }),
    artifacts: async function* () {
      for (let last = 0; ; ) {
        const page = artifactPage([last])
        for (const [id, agent, user, name, version, body] of page) {
          last = Number(id)
          const key = { agent: String(agent), user: String(user), name: String(name), version: Number(version) }
          yield { ...key, body: String(body) } satisfies SharedArtifact
        }
        if (page.length === 0) return
      }
    },
    findArtifact: async ({ agent, user, name, version }) => {
      const [[found] = []] = artifact([agent, user, name, version])
      return found === undefined ? undefined : String(found)
    },
    putArtifacts: (artifacts) =>
      together(() => {
        for (const { agent, user, name, version, body } of artifacts)
          putArtifact.run([agent, user, name, version, body])
      }),
  }
}
