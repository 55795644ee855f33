import type { ArtifactSaved, Draft, Outcome, RawRecorded, Recorded } from '../event/run-event.ts'
import type { SessionFacts } from '../event/session-facts.ts'
import type { JsonObject } from '../json/json.ts'
import type { RestoredPage } from './restored-rows.ts'

/** The part of an AbortSignal that core needs. The AbortSignal of every runtime fits. */
export interface Signal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export type SessionStatus = 'idle' | 'running' | Outcome

/** One conversation is one log. The log keeps this itself, in the same transaction as the appends. */
export interface SessionInfo {
  readonly id: string
  readonly user: string
  readonly agent: string
  readonly title: string
  /** `running` while the last run is open, else how it ended; `idle` before the first. */
  readonly status: SessionStatus
  /** The last run `failed` because the server or the recording stopped; how its work ended is not known. */
  readonly cutOff?: true
  /** The run that started last: the one `status` is about, and the one to rejoin. */
  readonly lastRun?: string
  /** The highest seq given out; 0 for an empty log. */
  readonly lastSeq: number
  /** How many rows the log has; pruning lowers it. */
  readonly events: number
  /** How many runs have started. */
  readonly runs: number
  readonly createdAt: number
  /** The latest `at` of any row ever appended, or `createdAt`. Renaming and pruning do not change it. */
  readonly updatedAt: number
  readonly forkOf?: { readonly session: string; readonly seq: number }
}

export interface NewSession {
  /** Like every name here (user, agent, title, run, owner): well-formed text without U+0000, else `invalid`. */
  readonly id: string
  readonly user: string
  readonly agent: string
  readonly title?: string
  readonly forkOf?: { readonly session: string; readonly seq: number }
}

/** The right to write one run. A writer whose epoch is no longer the run's is a zombie and is refused (SPEC 2.7). */
export interface Lease {
  readonly session: string
  readonly run: string
  readonly owner: string
  readonly epoch: number
  /** Milliseconds on the log's clock. */
  readonly until: number
}

/** A lease, and whose session it is on. */
export interface HeldLease extends Lease {
  readonly user: string
  /** How many sessions of this user have a lease, under any name. */
  readonly leased: number
}

export interface SessionQuery {
  /** Absent only on a server for one person (loopback, no tokens). */
  readonly user?: string
  readonly agent?: string
  readonly status?: SessionStatus
  /** True: only sessions that are cut off; false: none of them. They are `failed` for `status`. */
  readonly cutOff?: boolean
  /** True: the sessions that were deleted and can still be brought back. They are in no other list of all sessions. */
  readonly aside?: boolean
  /** Part of the title or id, case-insensitive. */
  readonly search?: string
  /** Newest `updatedAt` first, then by id downwards; at most this many: 1 to 500, by default 100. */
  readonly limit?: number
  readonly offset?: number
}

/** How much a user has, without contents. */
export interface UserFigures {
  readonly user: string
  readonly sessions: number
  /** The rows of all sessions. */
  readonly events: number
  /** The latest `updatedAt` of the sessions. */
  readonly updatedAt: number
}

/** Whose shared values are meant: those of one user with one agent. */
export interface SharedScope {
  readonly user: string
  readonly agent: string
}

export interface SearchQuery extends SharedScope {
  /** Rows with any of its words are found, whatever their case. */
  readonly text: string
  /** The session that asks: of this one, only what `remember` covers is found. */
  readonly from?: string
  /** 1 to 500, by default 50. */
  readonly limit?: number
}

/** A message that a search found: a `run.started` with the user's words, or what an agent said. */
export interface FoundMessage {
  readonly session: string
  readonly row: Recorded
}

/** What of a row was found: words that were said, a tool call or its result, keys of the state, … */
export type FoundKind = 'message' | 'tool' | 'state' | 'error' | 'agent' | 'plan'

/** A search for anything in the sessions of a user. */
export interface FindQuery {
  /** Absent only on a server for one person (loopback, no tokens). */
  readonly user?: string
  /**
   * All of its words must be in one text, whatever their case and accents; of the last one the beginning is enough. At
   * most 400 characters and 16 words count. A text without words finds nothing.
   */
  readonly text: string
  readonly kind?: FoundKind
  /** Of sessions with this agent. */
  readonly agent?: string
  /** Of sessions that have this status now. */
  readonly status?: SessionStatus
  /** As in `SessionQuery`. */
  readonly cutOff?: boolean
  /** Rows that the log took at `from` or later and before `to`, in ms. */
  readonly from?: number
  readonly to?: number
  /** `best`, the default: texts with the whole last word first, then messages and short texts, then new ones. */
  readonly order?: 'best' | 'newest'
  /** 1 to 100, by default 20. */
  readonly limit?: number
  /** The `next` of the page before. `invalid` when it is none. */
  readonly cursor?: string
}

/** A part of a text, with the places of the words that were searched, in UTF-16 units. */
export interface Snippet {
  readonly text: string
  readonly marks: readonly (readonly [start: number, end: number])[]
}

/** A row that was found, by one of its texts. */
export interface FoundRow {
  readonly session: string
  readonly seq: number
  readonly at: number
  readonly run: string
  readonly kind: FoundKind
  /** The agent whose text it is, or `user`; '' where the row names none. */
  readonly author: string
  readonly snippet: Snippet
}

export interface FoundPage {
  readonly found: readonly FoundRow[]
  /** The sessions of the rows on this page. */
  readonly sessions: readonly SessionInfo[]
  /** The cursor of the next page; absent on the last one. */
  readonly next?: string
  /** How many rows of the user's sessions are indexed already; absent when all of them are. */
  readonly indexing?: { readonly done: number; readonly of: number }
}

/**
 * The log contract (SPEC 2). `describeEventLog` of `@millrace/core/testing` is its executable form: every implementation
 * runs it. All errors are MillraceError with one of: not-found, conflict, busy, lease-lost, invalid, limit,
 * store-failed, and `unavailable` for any call after `close`.
 *
 * The log copies events as JSON: what a writer does to its object after `append` changes nothing.
 */
export interface EventLog {
  /**
   * A secret that is kept beside the data and that no client can read. With it, a server recognises what it wrote itself.
   * Absent in a log that outlives no process.
   */
  readonly secret?: Uint8Array
  /** `conflict` when the id is taken, by this or another user. */
  create(session: NewSession): Promise<SessionInfo>
  get(session: string): Promise<SessionInfo | undefined>
  list(query: SessionQuery): Promise<{ readonly sessions: readonly SessionInfo[]; readonly total: number }>
  /** The users that have sessions, by name; at most `limit` of them: 1 to 500, by default 100. */
  users(query: {
    readonly limit?: number
    readonly offset?: number
  }): Promise<{ readonly users: readonly UserFigures[]; readonly total: number }>
  rename(session: string, title: string): Promise<SessionInfo>
  /** Removes the session, its events and its leases; followers end. `busy` while a run holds a live lease. */
  remove(session: string): Promise<void>

  /**
   * Appends the drafts in order, all or none, and resolves when they are durable: no reader sees them before (SPEC 2.2).
   * Their seqs continue from `lastSeq` without a gap, in the order of the calls. With a lease, it fails with `lease-lost`
   * unless the lease has the run's current epoch and every draft is of that run. Without a lease, only drafts of run ''
   * (a person's edits) are accepted.
   */
  append(
    session: string,
    drafts: readonly Draft[],
    lease?: Pick<Lease, 'run' | 'epoch'>,
    options?: AppendOptions,
  ): Promise<readonly Recorded[]>
  /** Rows with seq > after, in order: all of them, or the first `limit`. */
  read(session: string, options: ReadOptions): Promise<readonly Recorded[]>
  /** The same rows as stored text, for a reader that need not look inside. Stores that keep text have this method. */
  readRaw?(session: string, options: ReadOptions): Promise<readonly RawRecorded[]>
  /**
   * Rows with seq > after, first the stored ones, then each batch as it is committed, without gap or duplicate, until
   * the signal aborts, the reader returns, the session is removed or the log is closed. `after` beyond the end waits.
   * A batch is never empty, and its size is bounded. A slow reader does not hold up the writer.
   */
  follow(session: string, options: FollowOptions): AsyncIterable<readonly Recorded[]>
  /**
   * What the rows up to `at` add up to; absent: all of them (SPEC 2.12). A durable log keeps checkpoints of it, so that
   * it reads the last rows only, however long the session is. `facts.seq` is `at`, or `lastSeq` where that is lower.
   */
  facts(session: string, at?: number): Promise<SessionFacts>
  /**
   * The text of the newest checkpoint of facts up to this seq, for a reader that folds the rows after it elsewhere.
   * Stores that keep checkpoints have this method.
   */
  checkpoint?(session: string, at: number): Promise<{ readonly seq: number; readonly text: string } | undefined>
  /** The seq of the first `run.started` of this run; undefined when the session has no such run. */
  startOf(session: string, run: string): Promise<number | undefined>
  /** The same rows as stored text, in stores that have `readRaw`. */
  followRaw?(session: string, options: FollowOptions): AsyncIterable<readonly RawRecorded[]>

  /**
   * Opens a run, the only one of the session. `busy` while any lease on the session is live. Epochs of a session only
   * grow. A lease that ran out without release stays in `expired()`: its holder can write no more, and its run still
   * needs its end (SPEC 4.1).
   */
  acquire(session: string, run: string, owner: string, ttl: number, options?: AcquireOptions): Promise<Lease>
  /** `lease-lost` when the run was taken over or the lease released. */
  renew(lease: Lease, ttl: number): Promise<Lease>
  /** Ends the lease. Does nothing if the lease was lost before. */
  release(lease: Lease): Promise<void>
  /**
   * Runs whose writer is dead: leases that ran out without release, and open runs that no lease covers (a fork or an
   * import cut mid-run; owner '', until 0). With `owner`, that owner's live leases too: a process that restarts under
   * its old name knows that those leases are from before the restart.
   */
  expired(owner?: string): Promise<readonly Lease[]>
  /** The leases under this name, live or not, the one that ends first first: runs that wait for a slot are under a name. */
  heldBy(owner: string): Promise<readonly HeldLease[]>
  /**
   * Takes a run over, whether its lease is live or not: the epoch grows, and appends of the previous holder are refused
   * from here on. With `epoch`, it fails with `lease-lost` unless the session's epoch is still that one: of two processes
   * that recover a run at once, one wins.
   */
  takeOver(
    lease: Pick<Lease, 'session' | 'run'> & { readonly epoch?: number },
    owner: string,
    ttl: number,
  ): Promise<Lease>

  /**
   * Calls back when another process may have written to the session: the holder of a lease then finds out at once that
   * its run was taken over. The result ends it. Logs that several processes share have this method.
   */
  watch?(session: string, changed: () => void): () => void

  /**
   * Counts up to `amount` more under the key in the present window of so many ms, and at most `most` in all: how many of
   * them it counted, how many there are, and how long the window lasts, in ms. Logs that several processes share have
   * this method, so that limits hold over all of them.
   */
  allot?(
    key: string,
    amount: number,
    most: number,
    window: number,
  ): Promise<{ readonly granted: number; readonly count: number; readonly left: number }>

  /**
   * The newest values of the state keys `user:…` and `app:…` (SPEC 2.11). Written by `append` with the events that
   * change them: ADK's state deltas, and a person's edits. Removing a session keeps them; restoring one changes none.
   */
  sharedState(scope: SharedScope): Promise<JsonObject>
  /** Every version of the artifacts named `user:…`, oldest first; a deleted one is its last event alone. */
  sharedArtifacts(scope: SharedScope): Promise<readonly ArtifactSaved[]>
  /** Deletes the values and artifacts `user:…` of a user with every agent. The user's sessions stay. */
  forgetUser(user: string): Promise<void>
  /** Lets searches find everything that the session has now, although its run is open or it is the one that asks. */
  remember(session: string): Promise<void>
  /** Whole messages of ended runs, and of remembered sessions, of this user with this agent; the best match first. */
  search(query: SearchQuery): Promise<readonly FoundMessage[]>
  /**
   * Finds rows of all sessions of a user by the words in them: messages, tool calls and their results, keys of the state,
   * errors, agents, plans. A store may index rows after their append, and then says how far it is.
   */
  find(query: FindQuery): Promise<FoundPage>

  /**
   * Creates a session with its history: keeps seq, at and run. `conflict` when the id is taken, `invalid` unless the
   * seqs strictly increase from 1 or above. All or nothing.
   */
  restore(session: NewSession, rows: readonly Recorded[]): Promise<SessionInfo>
  /**
   * The same with rows that come page by page as text, so that a long history is never in memory as a whole and holds up
   * no other write. All or nothing: no reader sees the session before its last row is durable, and nothing of it stays
   * when the pages end with an error, when the process ends before, or when the id was taken meanwhile.
   */
  restorePages(session: NewSession, pages: AsyncIterable<RestoredPage>): Promise<SessionInfo>
  /**
   * Creates a session that begins with the rows of another up to and including `seq`, and goes on with `ends`. The rows
   * stay where they are until one of the two sessions needs them alone. Stores that can share rows have this method.
   */
  fork?(source: string, seq: number, session: NewSession, ends: readonly Recorded[]): Promise<SessionInfo>
  /**
   * Deletes partials of finished runs last written before `before`, if an aggregate has the whole text of their message:
   * the text of a message that was cut exists in its partials alone (SPEC 2.9, 5.3). The other rows keep their seqs. Rows
   * that a fork shares stay.
   * Returns how many rows were deleted.
   */
  prune(before: number): Promise<number>
  /** How much there is, of one user or of all. Stores that count what they hold have this method. */
  usage?(user?: string): Promise<LogUsage>
  /** Whether it would take an append now, or why not. Stores that can run full have this method. */
  trouble?(): Promise<string | undefined>
  /** Completes the calls made before, ends the followers and releases all resources. May be called more than once. */
  close(): Promise<void>
}

export interface AcquireOptions {
  /** The caller appends next: the log may write the lease with that append, in one commit, which is refused if the lease was granted to another holder meanwhile. Until then a second one for the same run is `busy`. */
  readonly withFirst?: boolean
}

export interface AppendOptions {
  /** The run ends with these drafts and its agent is done: the log may release the lease with them, in one commit. */
  readonly last?: boolean
}

/** What sessions take. */
export interface LogUsage {
  readonly sessions: number
  /** The text of their events, in characters. */
  readonly bytes: number
}

export interface ReadOptions {
  readonly after: number
  readonly limit?: number
  /** The log may stop after about so many characters of stored text, but not before the first row. */
  readonly text?: number
  /** The log may leave out partials that `prune` could delete: every view is the same without them (SPEC 5.3). */
  readonly brief?: boolean
}

export interface FollowOptions {
  readonly after: number
  readonly signal: Signal
}
