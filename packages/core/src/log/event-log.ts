import type { Draft, Outcome, Recorded } from '../event/run-event.ts'

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
  /** `running` while a run is open, else how the last run ended; `idle` before the first. */
  readonly status: SessionStatus
  /** The highest seq given out; 0 for an empty log. */
  readonly lastSeq: number
  readonly events: number
  readonly runs: number
  readonly createdAt: number
  readonly updatedAt: number
  readonly forkOf?: { readonly session: string; readonly seq: number }
}

export interface NewSession {
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
  /** Newest `updatedAt` first; at most this many (1..500). */
  readonly limit?: number
  readonly offset?: number
}

/**
 * The log contract (SPEC 2). `describeEventLog` in event-log.contract.ts is its executable form: every implementation
 * runs it. All errors are MillraceError with one of: not-found, conflict, busy, lease-lost, limit, store-failed.
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
   * Takes the drafts in order, all or none, and resolves when they are durable. With a lease: refused with
   * `lease-lost` unless it is the run's current epoch. Without: only for drafts of run '' (a person's edits).
   */
  append(session: string, drafts: readonly Draft[], lease?: Pick<Lease, 'run' | 'epoch'>): Promise<readonly Recorded[]>
  /** Rows with seq > after, in order. */
  read(session: string, options: ReadOptions): Promise<readonly Recorded[]>
  /**
   * Rows with seq > after, first the stored ones, then each batch as it is committed, without gap or duplicate, until
   * the signal aborts or the session is removed. `after` beyond the end waits.
   */
  follow(
    session: string,
    options: { readonly after: number; readonly signal: Signal },
  ): AsyncIterable<readonly Recorded[]>

  /** Opens a run: the session's only one. `busy` while another run's lease on it is live. Epochs only grow. */
  acquire(session: string, run: string, owner: string, ttl: number): Promise<Lease>
  /** `lease-lost` when another has taken over. */
  renew(lease: Lease, ttl: number): Promise<Lease>
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

  /** History as it was: keeps seq, at and run. The session must be new and rows strictly increasing. All or nothing. */
  restore(session: NewSession, rows: readonly Recorded[]): Promise<SessionInfo>
  /** Drops partials of finished runs last written before `before`. Seqs keep their numbers. Returns how many went. */
  prune(before: number): Promise<number>
  close(): Promise<void>
}

export interface ReadOptions {
  readonly after: number
  readonly limit?: number
}
