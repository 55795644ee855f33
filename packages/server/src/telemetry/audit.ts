import type { Outcome, Problem } from '@millrace/core'

/** One line of the audit log: which user did what to which run, without contents. */
export interface AuditEntry {
  readonly at: number
  /** `run.lost`: another process has taken over the run. `run.unrecovered`: recovery failed and will be retried. */
  readonly action:
    | 'run.start'
    | 'run.refuse'
    | 'run.cancel'
    | 'run.supersede'
    | 'run.finish'
    | 'run.resume'
    | 'run.crash'
    | 'run.lost'
    | 'run.unrecovered'
    | 'session.delete'
  readonly session: string
  readonly run?: string
  /** The seq of the run's `run.started`, or of its first row after a resume. */
  readonly seq?: number
  readonly user?: string
  readonly agent?: string
  readonly outcome?: Outcome
  readonly problem?: Problem
}
