import type { Outcome, Recorded, RunInput } from '@millrace/core'
import type { LoadedSession } from './load-session.ts'

/** Starts, stops and awaits runs. Owns the run's whole life: queue, lease, timeout, abort, the one terminal event. */
export interface RunEngine {
  /**
   * Resolves once `run.started` is committed. Errors (MillraceError): `not-found` (agent or session), `busy` (an
   * active run with a reader; without one it is superseded, DESIGN 4.9), `limit` (concurrency), `unavailable`
   * (shutting down), `invalid` (open interrupts not answered).
   */
  start(request: StartRequest): Promise<StartedRun>
  /** False when there was nothing to cancel. Resolves when the terminal event is committed. */
  cancel(session: string, run?: string): Promise<boolean>
  /** How the run ended; at once if it already has. */
  wait(session: string, run: string): Promise<Outcome>
  /** A reader of the session came (call the result when it leaves): decides supersede against busy. */
  attach(session: string): () => void
  /** Runs whose process died: given their terminal event, or resumed. Call at start and on a timer. */
  recover(): Promise<{ readonly failed: number; readonly resumed: number }>
  /** Takes no more runs, lets active ones finish for `grace` ms, then cancels them; resolves when all are terminal. */
  shutdown(grace: number): Promise<void>
  readonly active: number
}

export interface StartRequest {
  readonly session: string
  readonly user: string
  readonly agent: string
  readonly input: RunInput
  /** The session, where the caller has read it: the engine then reads only what came after. */
  readonly loaded?: LoadedSession
  /** Chosen by the client (AG-UI runId) or made here. A run id already in the session is `conflict`. */
  readonly run?: string
  readonly parent?: string
  /** Cancel the run when its last reader leaves (`?disconnect=cancel`). */
  readonly cancelOnDisconnect?: boolean
  /**
   * The caller reads the run from its start, and is counted as a reader in the same moment: of two that start at once,
   * the second finds the session busy. It calls `StartedRun.leave` when it leaves.
   */
  readonly attach?: boolean
  /**
   * How many milliseconds to wait for the readers of the active run to leave before it is `busy`: a client that aborts
   * and starts anew is often faster than the news of its leaving.
   */
  readonly patience?: number
}

export interface StartedRun {
  readonly run: string
  /** The seq of `run.started`: streams of this run begin after `seq - 1`. */
  readonly seq: number
  /** Every row of the session up to `run.started` and its answers: a stream of the run need not read them again. */
  readonly rows: readonly Recorded[]
  /** Takes back what `attach` counted; does nothing without it. */
  readonly leave: () => void
}
