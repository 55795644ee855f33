import type { Outcome, Problem } from '@millrace/core'

/** One line of the audit log: which user did what to which session or run, without contents. */
export interface AuditEntry {
  readonly at: number
  /** `run.change`: it goes on with one thing changed, in a session of its own. `run.wait`: it waits for a slot; `run.start` follows. `run.hand-over`: this server shuts down, and another goes on with it. `run.lost`: another process has taken over the run. `run.unrecovered`: recovery failed and will be retried. */
  readonly action:
    | 'run.start'
    | 'run.wait'
    | 'run.refuse'
    | 'run.cancel'
    | 'run.supersede'
    | 'run.finish'
    | 'run.resume'
    | 'run.change'
    | 'run.crash'
    | 'run.lost'
    | 'run.hand-over'
    | 'run.unrecovered'
    | 'session.delete'
    | 'user.delete'
    | 'sign-in'
    | 'contents.read'
    | 'request.read'
    | 'request.change'
    | 'request.refuse'
  /** Absent where the entry is about no session. */
  readonly session?: string
  readonly run?: string
  /** The seq of the run's `run.started`, or of its first row after a resume. */
  readonly seq?: number
  /** The user that did it. */
  readonly user?: string
  /** The user whose sessions were deleted, or read by an operator. */
  readonly owner?: string
  /** The method and the route of a request, such as `GET /sessions/:id/state`, and the status of its answer. */
  readonly route?: string
  readonly status?: number
  readonly agent?: string
  readonly outcome?: Outcome
  readonly problem?: Problem
}
