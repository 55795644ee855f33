import type { EventLog, FoundMessage } from '@millrace/core'
import { searchLimit, searchWords } from '@millrace/core/store'
import { recordedOf } from '../recorded.ts'
import { rowKindNumbers } from '../row-kind.ts'
import type { ReadConnection, WriteConnection } from './connection.ts'
import type { EventInserts } from './event-inserts.ts'
import { lineOf, rowsIn } from './event-row.ts'
import type { GroupCommit } from './group-commit.ts'
import type { SessionCache } from './session-cache.ts'

export interface SearchDeps {
  readonly writer: WriteConnection
  readonly reader: ReadConnection
  readonly sessions: SessionCache
  readonly commit: GroupCommit['run']
  readonly inserts: EventInserts
}

/**
 * Search by SQLite's FTS5. The index is brought up to date by the search, for the sessions that it covers: an append
 * does not pay for it, and a server whose agents have no memory never makes one.
 */
export async function sqliteSearch(deps: SearchDeps): Promise<Pick<EventLog, 'remember' | 'search'>> {
  const { writer, reader, sessions, commit, inserts } = deps
  const mark = await writer.prepare('UPDATE session SET remembered = ? WHERE id = ?')
  const behind = await writer.prepare(
    `SELECT json_group_array(json_array(id, indexed, known)) FROM (
       SELECT s.id, s.indexed, max(s.remembered, coalesce(
         (SELECT e.seq FROM event e WHERE e.session = s.id AND e.mark = ${rowKindNumbers.end} ORDER BY e.seq DESC LIMIT 1), 0)) AS known
       FROM session s WHERE s.user = ? AND s.agent = ? AND s.last_seq > s.indexed)
     WHERE known > indexed`,
  )
  const find = reader.prepare(
    `SELECT s.name, (SELECT ${lineOf('body')} FROM event WHERE id = e.id)
     FROM message_text m JOIN event e ON e.id = m.rowid JOIN session s ON s.id = e.session
     WHERE message_text MATCH ?1 AND s.user = ?2 AND s.agent = ?3 AND (s.name <> ?4 OR e.seq <= s.remembered)
     ORDER BY m.rank, e.at DESC LIMIT ?5`,
  )
  const catchUp = (user: string, agent: string): Promise<void> =>
    commit(async (turn) => {
      inserts.insertHere() // appends of the same transaction are to be found too
      const late: readonly (readonly [number, number, number])[] = JSON.parse(
        String(behind.first([user, agent])?.[0] ?? '[]'),
      )
      if (late.length === 0) return
      turn.bulk()
      await writer.exec(late.map(([key, from, to]) => indexSql(key, from, to)).join(''))
    })
  return {
    remember: (id) =>
      commit(() => {
        const { key, info } = sessions.must(id)
        mark.run([info.lastSeq, key])
      }),
    search: async ({ user, agent, text, from = '', limit }) => {
      await catchUp(user, agent)
      const words = searchWords(text)
      if (words.length === 0) return []
      const match = words.map((word) => `"${word}"`).join(' OR ')
      return find([match, user, agent, from, searchLimit(limit)]).flatMap(([session, line]): readonly FoundMessage[] =>
        rowsIn(String(line)).map((row) => ({ session: String(session), row: recordedOf(row) })),
      )
    },
  }
}

/** Removes a session's messages from the index. Runs before its events are deleted. */
export function unindexSql(key: number): string {
  return `DELETE FROM message_text WHERE rowid IN (SELECT id FROM event WHERE session = ${key});`
}

/** The SQL holds its numbers as text, because `exec`, which runs on another thread, takes no parameters. */
function indexSql(key: number, from: number, to: number): string {
  const rows = `FROM event e WHERE e.session = ${key} AND e.seq > ${from} AND e.seq <= ${to}`
  const said = `SELECT e.id, (SELECT group_concat(json_extract(p.value, '$.text'), ' ')
      FROM json_each(e.body, '$.event.content.parts') p) AS text ${rows} AND e.mark = ${rowKindNumbers.whole}`
  const asked = `SELECT e.id, (SELECT group_concat(json_extract(p.value, '$.text'), ' ')
      FROM json_each(e.body, '$.input.messages') m, json_each(m.value, '$.content.parts') p
      WHERE json_extract(m.value, '$.role') = 'user') AS text ${rows} AND e.mark = ${rowKindNumbers.start}`
  return `INSERT INTO message_text (rowid, text) SELECT id, text FROM (${said} UNION ALL ${asked}) WHERE text IS NOT NULL;
    UPDATE session SET indexed = ${to} WHERE id = ${key};`
}
