import { createHash } from 'node:crypto'
import type { EventLog, FindQuery, FoundKind, FoundPage, FoundRow, RawRecorded, SessionInfo } from '@millrace/core'
import {
  type FindEntry,
  type FindPlace,
  type FindWords,
  findCursor,
  findEntries,
  findLimit,
  foundKinds,
  foundRow,
  placeOfCursor,
  queryWords,
} from '@millrace/core/store'
import { recordedOf } from './recorded.ts'

/** The number of a kind in the databases is its place here, which must not change: only append to `foundKinds`. */
export const kindNumber = (kind: FoundKind): number => foundKinds.indexOf(kind)

/**
 * Words that no text has, because they begin with `=`. They stand in the index beside the words of a text and say whose it
 * is, so that a search reads no list of another user's texts. A name of any length and content becomes a short word.
 */
export function scopeWords({ user, agent, kind }: Scope): readonly string[] {
  return Object.entries({ u: user, a: agent, k: kind }).flatMap(([letter, name]) =>
    name === undefined ? [] : [`=${letter}${createHash('sha256').update(name).digest('hex').slice(0, 16)}`],
  )
}

interface Scope {
  readonly user?: string | undefined
  readonly agent?: string | undefined
  readonly kind?: FoundKind | undefined
}

/** A session whose newest rows are not in the index. */
export interface Unindexed {
  readonly session: string
  /** The last seq that is in the index. */
  readonly from: number
  /** The last seq of the session. */
  readonly last: number
  /** The index has words of another version, which go before the first new ones come. */
  readonly stale: boolean
}

export interface IndexedText extends FindEntry {
  readonly seq: number
  readonly at: number
}

export interface Slice extends Unindexed {
  /** The last seq that the slice covers. */
  readonly to: number
  readonly texts: readonly IndexedText[]
}

/** What a match is ordered by, in the terms of the store. */
export interface IndexMatch {
  readonly place: FindPlace
  readonly info: SessionInfo
}

/** The index of a store: its tables, and the statements on them. */
export interface FindIndex {
  /** Sessions with rows that are not indexed, the ones that changed last first; at most `limit`. */
  behind(user: string | undefined, limit: number): Promise<readonly Unindexed[]>
  /** How many rows of the sessions are indexed, and how many there are. */
  progress(user: string | undefined): Promise<{ readonly done: number; readonly of: number }>
  /** Stores a slice in one transaction, unless the session is gone. */
  put(slice: Slice): Promise<void>
  /** Matches in order, after the place, at most `limit`. */
  match(query: FindQuery, words: FindWords, after: FindPlace | undefined, limit: number): Promise<readonly IndexMatch[]>
}

/** How long a search waits until what was appended is indexed, in ms. After that it answers with what it has. */
const patience = 400
/** One slice: rows, and characters of them. Other writes wait for at most one slice. */
const slice = { rows: 200, text: 128 * 1024 }
const sessionsAtOnce = 50

/**
 * Search over an index that is brought up to date by the search itself, in slices: an append does not pay for it, and a
 * server on which nothing is searched has no index. Measured on SQLite with messages of 60 words, indexing inside the
 * transaction of the append left 0.57 to 0.77 of its throughput at one row to a commit, 0.44 to 0.60 at ten and 0.12 to
 * 0.15 at a hundred. An index that is far behind goes on in the background, the sessions that changed last first.
 * `turn` is awaited before each slice, so that other work gets its turn.
 */
export function findOver(
  index: FindIndex,
  { read, readRaw }: Required<Pick<EventLog, 'read' | 'readRaw'>>,
  checkOpen: () => void,
  turn: () => Promise<void>,
): Pick<EventLog, 'find'> {
  const working = new Map<string, Promise<void>>()

  const indexed = async (one: Unindexed): Promise<void> => {
    const rows = await readRaw(one.session, { after: one.stale ? 0 : one.from, limit: slice.rows, text: slice.text })
    // The last rows may have been pruned: then there is nothing up to the end.
    await index.put({ ...one, to: rows.at(-1)?.seq ?? one.last, texts: rows.flatMap(textsOf) })
  }
  const catchUp = async (user: string | undefined): Promise<void> => {
    for (;;) {
      checkOpen()
      const late = await index.behind(user, sessionsAtOnce)
      if (late.length === 0) return
      for (const one of late) {
        await turn()
        // A session may be removed meanwhile; the others go on.
        await indexed(one).catch((error: unknown) => ignoreRemoved(error))
      }
    }
  }
  /** Resolves when all is indexed, or when the patience is over. */
  const upToDate = async (user: string | undefined): Promise<void> => {
    const whose = user === undefined ? '' : `=${user}`
    const work =
      working.get(whose) ??
      catchUp(user)
        // A full disk must not end searches of what is indexed already; the answer says how far the index is.
        .catch(() => undefined)
        .finally(() => working.delete(whose))
    working.set(whose, work)
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patience)
    })
    await Promise.race([work, late])
    clearTimeout(timer)
  }
  return {
    find: async (query) => {
      checkOpen()
      const after = placeOfCursor(query.cursor)
      const words = queryWords(query.text)
      if (words === undefined) return { found: [], sessions: [] }
      await upToDate(query.user)
      checkOpen()
      const limit = findLimit(query.limit)
      // Read before the matches: an index that catches up only after them was still behind for them.
      const progress = await index.progress(query.user)
      const matches = await index.match(query, words, after, limit + 1)
      const page = matches.slice(0, limit)
      const found: FoundRow[] = []
      for (const { place } of page) {
        const [row] = await read(place.session, { after: place.seq - 1, limit: 1 }).catch(gone)
        const shown = row?.seq === place.seq ? foundRow(place, row, words) : undefined
        if (shown !== undefined) found.push(shown)
      }
      return pageOf(found, page, matches.length > limit, progress)
    },
  }
}

/** A row that cannot be read has no words; it must not keep the others from being found. */
function textsOf(row: RawRecorded): readonly IndexedText[] {
  if (row.kind === 'partial') return []
  try {
    const { seq, at, event } = recordedOf(row)
    return findEntries({ event }).map((entry) => ({ ...entry, seq, at }))
  } catch {
    return []
  }
}

function pageOf(
  found: readonly FoundRow[],
  page: readonly IndexMatch[],
  more: boolean,
  progress: { readonly done: number; readonly of: number },
): FoundPage {
  const infos = new Map(page.map(({ info }) => [info.id, info]))
  const last = more ? page.at(-1) : undefined
  return {
    found,
    sessions: [...infos.values()],
    ...(last === undefined ? {} : { next: findCursor(last.place) }),
    ...(progress.done < progress.of ? { indexing: progress } : {}),
  }
}

function isRemoved(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'not-found'
}

function ignoreRemoved(error: unknown): void {
  if (!isRemoved(error)) throw error
}

function gone(error: unknown): readonly [] {
  if (!isRemoved(error)) throw error
  return []
}
