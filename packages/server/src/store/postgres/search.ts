import type { EventLog, FoundMessage } from '@millrace/core'
import { searchedText, searchLimit, searchWords, wordsIn } from '@millrace/core/store'
import { recordedOf } from '../recorded.ts'
import { rowKindNumbers } from '../row-kind.ts'
import type { PgConnection, Query, Value } from './connection.ts'
import { rawColumns, rawOf } from './event-row.ts'

/** Rows that one statement indexes. */
const pageRows = 500
/** PostgreSQL refuses words of more than 2,046 bytes. */
const longestWord = 500

/**
 * Search by tsvector. The words are cut as all stores cut them, so that all stores find the same. The index is brought up
 * to date by the search, for the sessions that it covers: an append does not pay for it, and a server whose agents have
 * no memory never makes one.
 */
export function postgresSearch({ query }: PgConnection, checkOpen: () => void): Pick<EventLog, 'search'> {
  return {
    search: async ({ user, agent, text, from = '', limit }) => {
      checkOpen()
      const words = lexemes(searchWords(text))
      if (words.length === 0) return []
      await catchUp(query, user, agent)
      const found = await query(
        `SELECT s.id, ${rawColumns} FROM message_text m JOIN session s ON s.id = m.session
           JOIN event e ON e.session = m.session AND e.seq = m.seq
         WHERE m.words @@ $1::tsquery AND m.user_name = $2 AND m.agent = $3 AND (s.id <> $4 OR e.seq <= s.remembered)
         ORDER BY (SELECT count(*) FROM unnest(tsvector_to_array(m.words)) w WHERE w = ANY($5::text[])) DESC, e.at DESC
         LIMIT $6`,
        [words.map((word) => `'${word}'`).join(' | '), user, agent, from, words, searchLimit(limit)],
      )
      return found.map(([session, ...row]): FoundMessage => ({ session: String(session), row: recordedOf(rawOf(row)) }))
    },
  }
}

/** Only letters and digits, so that they need no quoting. */
function lexemes(words: readonly string[]): readonly string[] {
  return [...new Set(words.map((word) => word.slice(0, longestWord)))]
}

async function catchUp(query: Query, user: string, agent: string): Promise<void> {
  const behind = await query(
    `SELECT id, indexed, known FROM (
       SELECT s.id, s.indexed, greatest(s.remembered, coalesce((SELECT e.seq FROM event e
         WHERE e.session = s.id AND e.kind = ${rowKindNumbers.end} ORDER BY e.seq DESC LIMIT 1), 0)) AS known
       FROM session s WHERE s.user_name = $1 AND s.agent = $2 AND s.last_seq > s.indexed) b
     WHERE known > indexed`,
    [user, agent],
  )
  for (const [id, indexed, known] of behind)
    await indexSession(query, { id: String(id), user, agent }, Number(indexed), Number(known))
}

/** Two replicas may index the same rows at once: the second finds them there. */
async function indexSession(
  query: Query,
  { id, user, agent }: { readonly id: string; readonly user: string; readonly agent: string },
  from: number,
  to: number,
): Promise<void> {
  let cursor = from
  while (cursor < to) {
    const rows = await query(
      `SELECT ${rawColumns} FROM event e WHERE e.session = $1 AND e.seq > $2 AND e.seq <= $3
         AND e.kind IN (${rowKindNumbers.whole}, ${rowKindNumbers.start}) ORDER BY e.seq LIMIT ${pageRows}`,
      [id, cursor, to],
    )
    for (const row of rows.map((one) => recordedOf(rawOf(one)))) {
      cursor = row.seq
      const words: Value = lexemes(wordsIn(searchedText(row.event) ?? ''))
      await query(
        `INSERT INTO message_text (session, seq, user_name, agent, words)
         SELECT s.id, $2, $3, $4, array_to_tsvector($5::text[]) FROM session s WHERE s.id = $1
         ON CONFLICT (session, seq) DO NOTHING`,
        [id, row.seq, user, agent, words],
      )
    }
    if (rows.length < pageRows) cursor = to
  }
  await query('UPDATE session SET indexed = greatest(indexed, $2) WHERE id = $1', [id, to])
}
