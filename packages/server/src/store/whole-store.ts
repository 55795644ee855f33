import type { Lease, RawRecorded, SessionInfo } from '@millrace/core'
import type { SharedPart } from './shared-part.ts'

/**
 * Everything that a store holds and cannot make again, for a move into another store. Checkpoints of facts and the index
 * of words are not part of it: a store makes them from the rows.
 */
export interface WholeStore {
  /** Without a password, for people. */
  readonly place: string
  readonly counts: () => Promise<StoreCounts>
  /** What uses the store at this moment, as a sentence; undefined when nothing does. A SQLite store cannot be opened then. */
  readonly inUse: () => Promise<string | undefined>
  /** A page of sessions after one, origins before their forks; empty after the last. */
  readonly sessions: (after?: StoredSession) => Promise<readonly StoredSession[]>
  /** Those of the sessions that are there, by id. */
  readonly find: (ids: readonly string[]) => Promise<ReadonlyMap<string, StoredSession>>
  /** A bounded page of the rows that the session has itself; those of `parts` belong to other sessions. */
  readonly rows: (session: StoredSession, after: number) => Promise<readonly RawRecorded[]>
  /** Stores a session with its own rows, all or nothing. False when the id is taken. */
  readonly put: (session: StoredSession, pages: AsyncIterable<readonly RawRecorded[]>) => Promise<boolean>
  /** The values `user:…` and `app:…`, in the order of their keys. */
  readonly values: () => AsyncIterable<SharedValue>
  readonly putValues: (values: readonly SharedValue[]) => Promise<void>
  readonly findValue: (key: Omit<SharedValue, 'value'>) => Promise<string | undefined>
  /** The artifacts `user:…`, the oldest first. */
  readonly artifacts: () => AsyncIterable<SharedArtifact>
  readonly putArtifacts: (artifacts: readonly SharedArtifact[]) => Promise<void>
  readonly findArtifact: (key: Omit<SharedArtifact, 'body'>) => Promise<string | undefined>
  /** See `EventLog.secret`. */
  readonly secret: () => Promise<Uint8Array>
  readonly keepSecret: (secret: Uint8Array) => Promise<void>
  readonly close: () => Promise<void>
}

export interface StoreCounts {
  readonly sessions: number
  readonly events: number
  readonly values: number
  readonly artifacts: number
}

export interface StoredSession {
  readonly info: SessionInfo
  readonly epoch: number
  readonly leases: readonly Lease[]
  /** The last seq that `EventLog.remember` covers. */
  readonly remembered: number
  /** Its first rows, if it is a fork that shares them: with the ids of sessions that come before it. */
  readonly parts: readonly SharedPart<string>[]
  /** An upper bound for the bytes of a body. */
  readonly widest: number
}

/** JSON as text. `user` is empty for a value of all users. */
export interface SharedValue {
  readonly agent: string
  readonly user: string
  readonly name: string
  readonly value: string
}

export interface SharedArtifact {
  readonly agent: string
  readonly user: string
  readonly name: string
  readonly version: number
  readonly body: string
}

/** Sessions of one page. */
export const sessionPage = 200

/**
 * Pages of sessions, those without parts first, then those with one part, and so on: the origins of a session have fewer
 * parts than it has (see `partsOfFork`). `at` reads a page of those with so many parts after an id.
 */
export async function pageByParts(
  after: StoredSession | undefined,
  deepest: () => Promise<number>,
  at: (parts: number, id: string) => Promise<readonly StoredSession[]>,
): Promise<readonly StoredSession[]> {
  const first = await at(after?.parts.length ?? 0, after?.info.id ?? '')
  if (first.length > 0) return first
  const last = await deepest()
  for (let parts = (after?.parts.length ?? 0) + 1; parts <= last; parts++) {
    const page = await at(parts, '')
    if (page.length > 0) return page
  }
  return []
}
