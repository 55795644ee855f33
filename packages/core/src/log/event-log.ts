import type { Draft, Outcome, RawRecorded, Recorded } from '../event/run-event.ts'

/** The part of an AbortSignal that core needs; every host's own fits. */
export interface Signal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

export type SessionStatus = 'idle' | 'running' | Outcome

/** One conversation = one log. Kept by the log itself, in the same transaction as the appends. */
export interface SessionInfo {
  readonly id: string
  readonly user: string
  readonly agent: string
  readonly title: string
  /** `running` while the last run is open, else how it ended; `idle` before the first. */
  readonly status: SessionStatus
  /** The run that started last: the one `status` is about, and the one to rejoin. */
  readonly lastRun?: string
  /** The highest seq given out; 0 for an empty log. */
  readonly lastSeq: number
  /** Rows that are there: pruning lowers it. */
  readonly events: number
  /** How many `run.started` were taken. */
  readonly runs: number
  readonly createdAt: number
  /** The latest `at` of any row ever taken, or `createdAt`: renaming and pruning do not touch it. */
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

export interface SessionQuery {
  /** Absent only where one person owns everything (loopback, no tokens). */
  readonly user?: string
  readonly agent?: string
  readonly status?: SessionStatus
  /** Part of the title or id, case-insensitive. */
  readonly search?: string
  /** Newest `updatedAt` first, then by id downwards; at most this many: 100 unless told, held to 1..500. */
  readonly limit?: number
  readonly offset?: number
}

/**
 * The log contract (SPEC 2). `describeEventLog` in event-log.contract.ts is its executable form: every implementation
 * runs it. All errors are MillraceError with one of: not-found, conflict, busy, lease-lost, invalid, limit,
 * store-failed, and `unavailable` for any call after `close`.
 *
 * Events are JSON and are the log's from `append` on: what a writer does to its object afterwards changes nothing.
 */
export interface EventLog {
  /** `conflict` when the id is taken, whoever has it. */
  create(session: NewSession): Promise<SessionInfo>
  get(session: string): Promise<SessionInfo | undefined>
  list(query: SessionQuery): Promise<{ readonly sessions: readonly SessionInfo[]; readonly total: number }>
  rename(session: string, title: string): Promise<SessionInfo>
  /** Removes the session, its events and its leases; followers end. `busy` while a run holds a live lease. */
  remove(session: string): Promise<void>

  /**
   * Takes the drafts in order, all or none, and resolves when they are durable: no reader sees them before (SPEC 2.2).
   * The seqs follow on `lastSeq` without a gap, in the order of the calls. With a lease: refused with `lease-lost` unless it is the run's current
   * epoch and every draft is of that run. Without: only for drafts of run '' (a person's edits).
   */
  append(session: string, drafts: readonly Draft[], lease?: Pick<Lease, 'run' | 'epoch'>): Promise<readonly Recorded[]>
  /** Rows with seq > after, in order: all of them, or the first `limit`. */
  read(session: string, options: ReadOptions): Promise<readonly Recorded[]>
  /** The same rows as stored text, for a reader that need not look inside. Stores that hold text offer it. */
  readRaw?(session: string, options: ReadOptions): Promise<readonly RawRecorded[]>
  /**
   * Rows with seq > after, first the stored ones, then each batch as it is committed, without gap or duplicate, until
   * the signal aborts, the reader returns, the session is removed or the log is closed. `after` beyond the end waits.
   * A batch is never empty, and bounded however much is stored. A reader holds nothing of the writer: it may be slow.
   */
  follow(session: string, options: FollowOptions): AsyncIterable<readonly Recorded[]>
  /** The same as stored text, where `readRaw` is offered. */
  followRaw?(session: string, options: FollowOptions): AsyncIterable<readonly RawRecorded[]>

  /**
   * Opens a run: the session's only one. `busy` while any lease on the session is live. Epochs only grow, per session.
   * A lease that ran out without release stays in `expired()`, fenced: its run still needs its end (SPEC 4.1).
   */
  acquire(session: string, run: string, owner: string, ttl: number): Promise<Lease>
  /** `lease-lost` when another has taken over, or it was released. */
  renew(lease: Lease, ttl: number): Promise<Lease>
  /** Gives the run back. Nothing happens where it is no longer ours. */
  release(lease: Lease): Promise<void>
  /**
   * Runs whose writer is dead: leases that ran out without release, and open runs that no lease covers (a fork or an
   * import cut mid-run; owner '', until 0). With `owner`, that owner's live leases too: a process that came back under
   * its own name knows that those were its former life.
   */
  expired(owner?: string): Promise<readonly Lease[]>
  /**
   * Takes a run over, live lease or not: the epoch grows, the previous holder is a zombie from here on. With `epoch`,
   * only while the session's epoch is still that one, else `lease-lost`: so of two that recover at once, one wins.
   */
  takeOver(
    lease: Pick<Lease, 'session' | 'run'> & { readonly epoch?: number },
    owner: string,
    ttl: number,
  ): Promise<Lease>

  /**
   * History as it was: keeps seq, at and run. `conflict` when the id is taken, `invalid` unless the seqs strictly
   * increase from 1 or above. All or nothing.
   */
  restore(session: NewSession, rows: readonly Recorded[]): Promise<SessionInfo>
  /**
   * Drops partials of finished runs last written before `before`, where the text of the message is there whole: what a
   * cut message had said so far exists nowhere else (SPEC 2.9, 5.3). Seqs keep their numbers. Returns how many went.
   */
  prune(before: number): Promise<number>
  /** Takes what was asked before, ends the followers, lets go of everything. More than once is fine. */
  close(): Promise<void>
}

export interface ReadOptions {
  readonly after: number
  readonly limit?: number
  /** Partials that `prune` could drop may be left out: every view is the same without them (SPEC 5.3). */
  readonly brief?: boolean
}

export interface FollowOptions {
  readonly after: number
  readonly signal: Signal
}
