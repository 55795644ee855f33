import type { Outcome, Problem } from '@millrace/core'

/** One line of the audit log: who did what to which run. No contents. */
export interface AuditEntry {
  readonly at: number
  /** `run.lost`: another process writes the run now. `run.unrecovered`: recovery failed, and will be tried again. */
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
  /** Where its log begins: the seq of `run.started`, or of the first row after a resume. */
  readonly seq?: number
  readonly user?: string
  readonly agent?: string
  readonly outcome?: Outcome
  readonly problem?: Problem
}
