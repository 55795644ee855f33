import type { Change, Changed, Extra, Outcome, Recorded, RunInput, SessionInfo, StreamBase } from '@millrace/core'
import type { ChangedStart } from './change-plan.ts'
import type { LoadedSession } from './load-session.ts'

/** Starts, cancels and awaits runs. It owns lease, timeout, abort and the one `run.finished` of every run. */
export interface RunEngine {
  /**
   * Resolves once `run.started` is committed; without a free slot the run may wait for one. Errors (MillraceError): `not-found` (agent or session), `busy` (the
   * session has an active run with a reader; one without a reader is superseded), `conflict` (the run id exists),
   * `limit` (too many runs, also waiting ones), `unavailable` (shutting down), `invalid` (open interrupts are not answered).
   */
  start(request: StartRequest): Promise<StartedRun>
  /** What a run with one thing changed would reuse; `conflict` or `limit` with a sentence where the change cannot be made. */
  planChange(request: ChangeRequest): Promise<ChangedStart>
  /** Lets a changed run go on in a session that has what came before the run; rejects as `start` does. */
  runOn(request: RunOnRequest): Promise<{ readonly run: string; readonly seq: number }>
  /** Resolves when `run.finished` is committed; with false when there was nothing to cancel. */
  cancel(session: string, run?: string): Promise<boolean>
  /** Resolves with how the run ended; at once if it has. */
  wait(session: string, run: string): Promise<Outcome>
  /**
   * The rows of a session as its agents are given them, perhaps without partials of whole messages in ended runs
   * (SPEC 5.3). Those of recent runs are in memory.
   */
  history(session: SessionInfo): Promise<readonly Recorded[]>
  /** Counts a reader of the session until the result is called: a run with a reader is not superseded. */
  attach(session: string): () => void
  /** Ends or resumes runs whose process is gone, and takes runs that wait for a slot. Call it at start and on a timer. */
  recover(): Promise<{ readonly failed: number; readonly resumed: number }>
  /**
   * Refuses new runs. Where processes share the log, runs of resumable agents are left to another one; the others get
   * `grace` ms, then they are cancelled. Resolves when no run is active here.
   */
  shutdown(grace: number): Promise<void>
  readonly active: number
}

export interface ChangeRequest {
  readonly session: string
  /** The id of the session, as its user knows it. */
  readonly id: string
  readonly change: Change
  /** Who changes it. */
  readonly by: string
}

export interface RunOnRequest {
  /** The new session. */
  readonly session: string
  readonly user: string
  readonly start: ChangedStart
}

export interface StartRequest {
  readonly session: string
  readonly user: string
  readonly agent: string
  readonly input: RunInput
  /** The session, where the caller has read it. */
  readonly loaded?: LoadedSession
  /** The run's id, if the client chooses it (AG-UI runId). */
  readonly run?: string
  readonly parent?: string
  /** The earlier runs whose place it takes: the agent does not see them, and the state is as before them (SPEC 4.7). */
  readonly replaces?: readonly string[]
  /** The change of an earlier run that this one was started with. */
  readonly changed?: Changed
  /** What the dialect of the request keeps with `run.started`. */
  readonly extra?: Extra
  /** Keys of the state that the client has removed. */
  readonly removed?: readonly string[]
  /** Cancel the run when its last reader leaves (`?disconnect=cancel`). */
  readonly cancelOnDisconnect?: boolean
  /**
   * The caller reads the run from its start and is counted as a reader at once, so that of two starts at the same
   * time the second finds the session busy. It calls `StartedRun.leave` when it leaves.
   */
  readonly attach?: boolean
  /**
   * How many milliseconds to wait for the readers of the active run to leave before it is `busy`: when a client aborts
   * and starts again, the new request often arrives before the old connection is seen to close.
   */
  readonly patience?: number
  /** Whether the client has left: a run that no one waits for any more is not begun, but fails with `cancelled`. */
  readonly isGone?: () => boolean
}

export interface StartedRun {
  readonly run: string
  /** The seq of `run.started`: streams of this run begin after `seq - 1`. */
  readonly seq: number
  /** Where a stream of the run may begin. */
  readonly base: StreamBase
  /** Ends what `attach` began; does nothing without it. */
  readonly leave: () => void
}
