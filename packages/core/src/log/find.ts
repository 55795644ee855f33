import { MillraceError } from '../event/problem.ts'
import type { Recorded } from '../event/run-event.ts'
import type { FindQuery, FoundKind, FoundRow, SessionInfo } from './event-log.ts'
import { snippetOf } from './find-snippet.ts'
import { findTexts } from './find-text.ts'
import { type FindWords, indexWords, matchWords, queryWords } from './find-words.ts'
import { hasStatus } from './session-status.ts'
import { isAsideUser } from './set-aside.ts'

/** Grows when the words of a row change, so that stores index their rows anew. */
export const findVersion = 1

/** The words of one text that are indexed. */
const mostWords = 4000
const defaultLimit = 20
const mostFound = 100

/** One text in an index. */
export interface FindEntry {
  readonly kind: FoundKind
  readonly words: readonly string[]
  /** How long it is: texts with a smaller one come first. */
  readonly size: number
}

/** How much worse a text of a kind is than a message of the same length: what was said is what a person remembers. */
const handicaps: Readonly<Record<FoundKind, number>> = { message: 0, error: 0, agent: 1, plan: 1, tool: 3, state: 3 }

/** What an index holds of a row. */
export function findEntries({ event }: Pick<Recorded, 'event'>): readonly FindEntry[] {
  return findTexts(event).flatMap(({ kind, text }) => {
    const words = indexWords(text, mostWords)
    return words.length === 0 ? [] : [{ kind, words, size: sizeOf(words.length) + handicaps[kind] }]
  })
}

/** Texts are compared by the power of two below the number of their words. */
function sizeOf(words: number): number {
  return Math.floor(Math.log2(words))
}

/**
 * The place of a match in the order: the better rank first, then the newer one. A cursor is the place of the last match of
 * a page, so that matches which come meanwhile move nothing.
 */
export interface FindPlace {
  readonly rank: number
  readonly at: number
  readonly seq: number
  readonly session: string
  readonly kind: FoundKind
}

/** Ranks of texts that have only the beginning of the last word. */
export const inexactRank = 100

export function rankOf(order: FindQuery['order'], exact: boolean, size: number): number {
  return order === 'newest' ? 0 : size + (exact ? 0 : inexactRank)
}

export function comparePlaces(a: FindPlace, b: FindPlace): number {
  return (
    a.rank - b.rank || b.at - a.at || b.seq - a.seq || compareText(a.session, b.session) || compareText(a.kind, b.kind)
  )
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

export function findCursor({ rank, at, seq, session, kind }: FindPlace): string {
  return JSON.stringify([rank, at, seq, session, kind])
}

/** The place that a cursor names. `invalid` unless it is one of ours. */
export function placeOfCursor(cursor: string | undefined): FindPlace | undefined {
  if (cursor === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(cursor)
  } catch {
    throw badCursor()
  }
  if (!Array.isArray(value) || value.length !== 5) throw badCursor()
  const [rank, at, seq, session, kind] = value as readonly unknown[]
  const isPlace = [rank, seq].every(isCount) && Number(rank) < 2 ** 31 && Number.isFinite(at)
  if (!isPlace || typeof session !== 'string' || !isFoundKind(kind)) throw badCursor()
  return { rank: Number(rank), at: Number(at), seq: Number(seq), session, kind }
}

/** The databases keep ranks and numbers of rows as whole numbers. */
function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function badCursor(): MillraceError {
  return new MillraceError('invalid', 'the cursor must be the `next` of an earlier answer', { field: 'cursor' })
}

const kindNames: Readonly<Record<FoundKind, true>> = {
  message: true,
  tool: true,
  state: true,
  error: true,
  agent: true,
  plan: true,
}
export const foundKinds = Object.keys(kindNames) as readonly FoundKind[]
function isFoundKind(value: unknown): value is FoundKind {
  return typeof value === 'string' && Object.hasOwn(kindNames, value)
}

export function findLimit(limit = defaultLimit): number {
  return Number.isNaN(limit) ? defaultLimit : Math.min(mostFound, Math.max(1, Math.floor(limit)))
}

/** Whether a search looks into the session at all. */
export function isFindable(info: SessionInfo, query: FindQuery): boolean {
  const { user, agent } = query
  return (
    (user === undefined ? !isAsideUser(info.user) : info.user === user) &&
    (agent === undefined || info.agent === agent) &&
    hasStatus(info, query)
  )
}

/** The match as it is shown; undefined when the row has no such text. */
export function foundRow(
  { session, kind }: Pick<FindPlace, 'session' | 'kind'>,
  { seq, at, run, event }: Recorded,
  words: FindWords,
): FoundRow | undefined {
  const text = findTexts(event).find((each) => each.kind === kind)
  if (text === undefined) return undefined
  return { session, seq, at, run, kind, author: text.author, snippet: snippetOf(text.text, words) }
}

/** The matches in rows that are in memory, in order, after the cursor. */
export function findIn(
  sessions: Iterable<{ readonly info: SessionInfo; readonly rows: readonly Recorded[] }>,
  query: FindQuery,
): readonly { readonly place: FindPlace; readonly found: FoundRow }[] {
  const words = queryWords(query.text)
  const after = placeOfCursor(query.cursor)
  if (words === undefined) return []
  const { kind, order, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = query
  const matches: { place: FindPlace; row: Recorded }[] = []
  for (const { info, rows } of sessions) {
    if (!isFindable(info, query)) continue
    for (const row of rows) {
      if (row.at < from || row.at >= to) continue
      for (const entry of findEntries(row)) {
        const match = matchWords(new Set(entry.words), words)
        if (match === undefined || (kind !== undefined && entry.kind !== kind)) continue
        const rank = rankOf(order, match.exact, entry.size)
        matches.push({ place: { rank, at: row.at, seq: row.seq, session: info.id, kind: entry.kind }, row })
      }
    }
  }
  return matches
    .filter(({ place }) => after === undefined || comparePlaces(place, after) > 0)
    .sort((a, b) => comparePlaces(a.place, b.place))
    .slice(0, findLimit(query.limit) + 1)
    .flatMap(({ place, row }) => {
      const found = foundRow(place, row, words)
      return found === undefined ? [] : [{ place, found }]
    })
}
