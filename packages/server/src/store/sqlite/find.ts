import type { EventLog, FindQuery } from '@millrace/core'
import { type FindPlace, type FindWords, findVersion, foundKinds, inexactRank } from '@millrace/core/store'
import { ownTurn } from '../../thread/turns.ts'
import { type FindIndex, findOver, type IndexMatch, kindNumber, type Slice, scopeWords } from '../find-index.ts'
import { infoOf, infoWidth, statusText } from '../session-info-row.ts'
import type { Bound, ReadConnection, Row, WriteConnection } from './connection.ts'
import type { GroupCommit } from './group-commit.ts'
import type { SessionCache } from './session-cache.ts'
import { infoColumns } from './session-row.ts'

export interface SqliteFindDeps {
  readonly writer: WriteConnection
  readonly reader: ReadConnection
  readonly sessions: SessionCache
  readonly commit: GroupCommit['run']
  readonly reads: Required<Pick<EventLog, 'read' | 'readRaw'>>
  readonly checkOpen: () => void
}

/** The sessions of a user, or of everyone without those that were deleted and can be brought back. */
const isOf = (user: string): string => `((${user} IS NULL AND substr(s.user, 1, 1) <> char(30)) OR s.user = ${user})`

/** Of more matches than this, those that were indexed last are ordered: what a search costs is bounded. */
const mostMatches = 10_000

/**
 * Search by FTS5. The words are made by core and separated by spaces, so that all stores find the same: the tokenizer
 * `ascii` takes everything beyond ASCII as part of a word. Words that begin with `=` say whose text it is and of which
 * kind, so that a search reads no list of another user's rows.
 */
export function sqliteFind(deps: SqliteFindDeps): Pick<EventLog, 'find'> {
  const { reader, reads, checkOpen } = deps
  const behind = reader.prepare(
    `SELECT s.name, s.found_to, s.last_seq, s.found_version <> ${findVersion} FROM session s
     WHERE ${isOf('?1')} AND ${isBehind} ORDER BY s.updated_at DESC, s.id LIMIT ?2`,
  )
  const progress = reader.prepare(
    `SELECT coalesce(sum(CASE WHEN s.found_version = ${findVersion} THEN s.found_to ELSE 0 END), 0), coalesce(sum(s.last_seq), 0)
     FROM session s WHERE ${isOf('?1')}`,
  )
  const index: FindIndex = {
    behind: async (user, limit) =>
      behind([user ?? null, limit]).map(([session, from, last, stale]) => ({
        session: String(session),
        from: Number(from),
        last: Number(last),
        stale: Number(stale) === 1,
      })),
    progress: async (user) => {
      const [done, of] = (progress([user ?? null])[0] ?? []).map(Number)
      return { done: done ?? 0, of: of ?? 0 }
    },
    put: (slice) => put(deps, slice),
    match: matching(reader),
  }
  return findOver(index, reads, checkOpen, ownTurn)
}

const isBehind = `(s.last_seq > s.found_to OR s.found_version <> ${findVersion}) AND s.last_seq > 0`

function put({ writer, sessions, commit }: SqliteFindDeps, slice: Slice): Promise<void> {
  return commit(async (turn) => {
    const session = sessions.find(slice.session)
    if (session === undefined) return
    turn.bulk()
    await writer.exec(sliceSql(session.key, session.info, slice))
  })
}

/** The SQL holds its values as text, because `exec`, which runs on another thread, takes no parameters. */
function sliceSql(
  key: number,
  { user, agent }: { readonly user: string; readonly agent: string },
  { texts, to, stale }: Slice,
): string {
  const inserts = texts.map(
    ({ seq, at, kind, size, words }) =>
      `INSERT INTO found_text (session, seq, at, kind, size) VALUES (${key}, ${seq}, ${at}, ${kindNumber(kind)}, ${size});
       INSERT INTO found_words (rowid, words) VALUES (last_insert_rowid(), '${[...scopeWords({ user, agent, kind }), ...words].join(' ')}');`,
  )
  return [
    ...(stale ? [unfindSql(key)] : []),
    ...inserts,
    `UPDATE session SET found_to = ${to}, found_version = ${findVersion} WHERE id = ${key};`,
  ].join('\n')
}

/** Removes a session's texts from the index. */
export function unfindSql(key: number, limit?: number): string {
  const some = `SELECT id FROM found_text WHERE session = ${key} ${limit === undefined ? '' : `ORDER BY id LIMIT ${limit}`}`
  return `DELETE FROM found_words WHERE rowid IN (${some}); DELETE FROM found_text WHERE id IN (${some});`
}

function matching(reader: ReadConnection): FindIndex['match'] {
  const select = (exact: string) =>
    reader.prepare(
      `SELECT ${infoColumns}, m.rank, m.at, m.seq, m.kind FROM (
         SELECT t.session, t.seq, t.at, t.kind, ${exact} AS rank FROM (
           SELECT rowid AS id FROM found_words WHERE found_words MATCH ?1 ORDER BY rowid DESC LIMIT ${mostMatches}) f
         CROSS JOIN found_text t ON t.id = f.id) m
       CROSS JOIN session s ON s.id = m.session
       WHERE ${isOf('?3')} AND (?4 IS NULL OR s.agent = ?4) AND (?5 IS NULL OR s.status IN (SELECT value FROM json_each(?5)))
         AND (?6 IS NULL OR m.at >= ?6) AND (?7 IS NULL OR m.at < ?7)
         AND (?8 IS NULL OR (m.rank, -m.at, -m.seq, s.name, m.kind) > (?8, -?9, -?10, ?11, ?12))
       ORDER BY m.rank, m.at DESC, m.seq DESC, s.name, m.kind LIMIT ?13`,
    )
  const byTime = select('CASE WHEN ?2 IS NULL THEN 0 ELSE 0 END')
  const byRank = select(
    `t.size + CASE WHEN ?2 IS NULL OR t.id IN (SELECT rowid FROM found_words WHERE found_words MATCH coalesce(?2, ?1)) THEN 0 ELSE ${inexactRank} END`,
  )
  return async (query, words, after, limit) => {
    const { user, agent, from, to } = query
    const place = placeValues(after)
    const filters = [user, agent, statusText(query), from, to].map((value): Bound => value ?? null)
    const rows = query.order === 'newest' ? byTime : byRank
    return rows([matchText(query, words), wholeText(query, words), ...filters, ...place, limit]).map(matchOf)
  }
}

function placeValues(after: FindPlace | undefined): readonly Bound[] {
  if (after === undefined) return [null, null, null, null, null]
  return [after.rank, after.at, after.seq, after.session, kindNumber(after.kind)]
}

function matchOf(row: Row): IndexMatch {
  const info = infoOf(row)
  const [rank, at, seq, kind] = row.slice(infoWidth).map(Number)
  return {
    info,
    place: {
      rank: rank ?? 0,
      at: at ?? 0,
      seq: seq ?? 0,
      session: info.id,
      kind: foundKinds[kind ?? 0] ?? 'message',
    },
  }
}

/** The query of FTS5. Words have letters, digits and marks alone, so that quotes are enough. */
function matchText({ user, agent, kind }: FindQuery, { words, prefix }: FindWords): string {
  return [
    ...[...scopeWords({ user, agent, kind }), ...words].map(quoted),
    ...(prefix === undefined ? [] : [`${quoted(prefix)}*`]),
  ].join(' AND ')
}

/** The same with the whole last word; null when that is the same query. */
function wholeText(query: FindQuery, { words, prefix, typed }: FindWords): string | null {
  return prefix === undefined ? null : matchText(query, { words: [...words, prefix], typed })
}

function quoted(word: string): string {
  return `"${word}"`
}
