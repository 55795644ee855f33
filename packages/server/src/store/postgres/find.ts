import type { EventLog, FindQuery } from '@millrace/core'
import { type FindPlace, type FindWords, findVersion, foundKinds, inexactRank } from '@millrace/core/store'
import { ownTurn } from '../../thread/turns.ts'
import { type FindIndex, findOver, type IndexMatch, kindNumber, type Slice, scopeWords } from '../find-index.ts'
import { infoOf, infoWidth, statusesFor } from '../session-info-row.ts'
import type { PgConnection, PgRow, Query, Value } from './connection.ts'
import { pgInfoColumns } from './session-row.ts'

/** Not one of those that were deleted and can be brought back. */
const isThere = 'left(s.user_name, 1) <> chr(30)'

/** Of more matches than this, the newest are ordered: what a search costs is bounded. */
const mostMatches = 10_000

/** Search by tsvector. The words are made by core, so that all stores find the same; see the SQLite store. */
export function postgresFind(
  { query, transaction }: PgConnection,
  reads: Required<Pick<EventLog, 'read' | 'readRaw'>>,
  checkOpen: () => void,
): Pick<EventLog, 'find'> {
  const whose = `(($1::text IS NULL AND ${isThere}) OR s.user_name = $1)`
  const index: FindIndex = {
    behind: async (user, limit) => {
      const rows = await query(
        `SELECT s.id, s.found_to, s.last_seq, s.found_version <> ${findVersion} FROM session s
         WHERE ${whose} AND (s.last_seq > s.found_to OR s.found_version <> ${findVersion}) AND s.last_seq > 0
         ORDER BY s.updated_at DESC, s.id LIMIT $2`,
        [user ?? null, limit],
      )
      return rows.map(([session, from, last, stale]) => ({
        session: String(session),
        from: Number(from),
        last: Number(last),
        stale: stale === true,
      }))
    },
    progress: async (user) => {
      const [[done, of] = []] = await query(
        `SELECT coalesce(sum(CASE WHEN s.found_version = ${findVersion} THEN s.found_to ELSE 0 END), 0)::bigint,
           coalesce(sum(s.last_seq), 0)::bigint FROM session s WHERE ${whose}`,
        [user ?? null],
      )
      return { done: Number(done), of: Number(of) }
    },
    put: (slice) => transaction((inside) => put(inside, slice)),
    match: (wanted, words, after, limit) => matching(query, wanted, words, after, limit),
  }
  return findOver(index, reads, checkOpen, ownTurn)
}

/** Two replicas may index the same rows at once: the second finds them there. */
async function put(query: Query, { session, texts, to, stale }: Slice): Promise<void> {
  const [row] = await query('SELECT user_name, agent, born, found_version FROM session WHERE id = $1', [session])
  if (row === undefined) return
  const [user = '', agent = '', born = ''] = row.map(String)
  if (stale && row[3] !== findVersion) await query('DELETE FROM found_text WHERE session = $1', [session])
  if (texts.length > 0)
    await query(
      `INSERT INTO found_text (session, born, seq, kind, at, size, words)
       SELECT $1, $2, seq, kind, at, size, array_to_tsvector(string_to_array(words, ' '))
       FROM unnest($3::bigint[], $4::smallint[], $5::float8[], $6::smallint[], $7::text[]) t (seq, kind, at, size, words)
       ON CONFLICT (session, seq, kind) DO NOTHING`,
      [
        session,
        born,
        texts.map(({ seq }) => seq),
        texts.map(({ kind }) => kindNumber(kind)),
        texts.map(({ at }) => at),
        texts.map(({ size }) => size),
        texts.map(({ kind, words }) => [...scopeWords({ user, agent, kind }), ...words].join(' ')),
      ],
    )
  // Last, so that the writer of a run does not wait for the index. Only columns of the index change: it need not notice.
  const [there] = await query(
    `UPDATE session SET found_to = $3, found_version = ${findVersion} WHERE id = $1 AND born = $2 RETURNING 1`,
    [session, born, to],
  )
  // The session was removed meanwhile.
  if (there === undefined) await query('DELETE FROM found_text WHERE session = $1 AND born = $2', [session, born])
}

async function matching(
  query: Query,
  wanted: FindQuery,
  words: FindWords,
  after: FindPlace | undefined,
  limit: number,
): Promise<readonly IndexMatch[]> {
  const values: Value[] = []
  const bind = (value: Value): string => `$${values.push(value)}`
  const { user, agent, from, to, order } = wanted
  const statuses = statusesFor(wanted)
  const all = bind(matchText(wanted, words))
  const inexact = (): string =>
    words.prefix === undefined
      ? '0'
      : `CASE WHEN t.words @@ ${bind(matchText(wanted, wholeWords(words)))}::tsquery THEN 0 ELSE ${inexactRank} END`
  const rank = order === 'newest' ? '0' : `t.size + ${inexact()}`
  const filters = [
    user === undefined ? isThere : `s.user_name = ${bind(user)}`,
    ...(agent === undefined ? [] : [`s.agent = ${bind(agent)}`]),
    ...(statuses === undefined ? [] : [`s.status = ANY(${bind(statuses)}::text[])`]),
    ...(from === undefined ? [] : [`t.at >= ${bind(from)}`]),
    ...(to === undefined ? [] : [`t.at < ${bind(to)}`]),
  ]
  const place =
    after === undefined
      ? ''
      : `WHERE (m.rank, -m.at, -m.seq, m.id, m.kind) > (${bind(after.rank)}::int, -${bind(after.at)}::float8,
           -${bind(after.seq)}::bigint, ${bind(after.session.replaceAll('\0', '�'))}::text COLLATE "C", ${bind(kindNumber(after.kind))}::smallint)`
  const rows = await query(
    `SELECT ${pgInfoColumns.replaceAll('s.', 'm.')}, m.rank, m.at, m.seq, m.kind FROM (
       SELECT ${pgInfoColumns}, t.at, t.seq, t.kind, ${rank} AS rank
       FROM found_text t JOIN session s ON s.id = t.session AND s.born = t.born
       WHERE ${[`t.words @@ ${all}::tsquery`, ...filters].join(' AND ')} ORDER BY t.at DESC LIMIT ${mostMatches}) m
     ${place} ORDER BY m.rank, m.at DESC, m.seq DESC, m.id, m.kind LIMIT ${bind(limit)}`,
    values,
  )
  return rows.map(matchOf)
}

function matchOf(row: PgRow): IndexMatch {
  const info = infoOf(row)
  const [rank, at, seq, kind] = row.slice(infoWidth).map(Number)
  return {
    info,
    place: { rank: rank ?? 0, at: at ?? 0, seq: seq ?? 0, session: info.id, kind: foundKinds[kind ?? 0] ?? 'message' },
  }
}

/** Words have letters, digits and marks alone, so that quotes are enough. */
function matchText(query: FindQuery, { words, prefix }: FindWords): string {
  const all = [...scopeWords(query), ...words].map((word) => `'${word}'`)
  return [...all, ...(prefix === undefined ? [] : [`'${prefix}':*`])].join(' & ')
}

function wholeWords({ words, prefix, typed }: FindWords): FindWords {
  return { words: prefix === undefined ? words : [...words, prefix], typed }
}
