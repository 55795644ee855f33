import type { PgConnection } from './connection.ts'

/** What `sessionKey` puts between the user and the id. */
const mark = 'chr(31)'

/** The sessions that need another key, and that key. `session-keys.ts` of SQLite says when a session keeps its own. */
const byUser = `SELECT s.id, s.user_name || ${mark} || s.id || CASE WHEN EXISTS
    (SELECT 1 FROM session o WHERE o.id = s.user_name || ${mark} || s.id) THEN '~' || left(s.born, 8) ELSE '' END AS key
  FROM session s WHERE position(${mark} IN s.id) = 0`
const byId = `SELECT s.id, substr(s.id, length(s.user_name) + 2) AS key FROM session s
  WHERE left(s.id, length(s.user_name) + 1) = s.user_name || ${mark} AND left(s.user_name, 1) <> chr(30)
    AND NOT EXISTS (SELECT 1 FROM session o WHERE o.id = substr(s.id, length(s.user_name) + 2))`

/** Keys the sessions as the server needs them: by user and id where users have tokens, else by id alone. */
export async function keyPgSessions({ query, transaction }: PgConnection, owned: boolean): Promise<void> {
  const wanted = owned ? byUser : byId
  const [found] = await query(`${wanted} LIMIT 1`)
  if (found === undefined) return
  await transaction(async (inside) => {
    // Replicas that start at once do it one after the other.
    await inside('LOCK TABLE session IN SHARE ROW EXCLUSIVE MODE')
    await inside(`CREATE TEMPORARY TABLE rekeyed ON COMMIT DROP AS ${wanted}`)
    for (const table of ['event', 'checkpoint', 'message_text', 'found_text'])
      await inside(`UPDATE ${table} t SET session = r.key FROM rekeyed r WHERE t.session = r.id`)
    for (const column of ['origin', 'session'])
      await inside(`UPDATE shared_rows t SET ${column} = r.key FROM rekeyed r WHERE t.${column} = r.id`)
    await inside(`UPDATE session t SET parts = (SELECT json_agg(json_build_array(coalesce(r.key, p ->> 0), (p ->> 1)::bigint) ORDER BY n)::text
      FROM json_array_elements(t.parts::json) WITH ORDINALITY a (p, n) LEFT JOIN rekeyed r ON r.id = p ->> 0) WHERE t.parts <> '[]'`)
    await inside('UPDATE session t SET id = r.key, version = version + 1 FROM rekeyed r WHERE t.id = r.id')
  })
}
