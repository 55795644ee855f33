import type { EventLog } from '@millrace/core'
import type { Agent } from '../agent/agent.ts'
import type { CallRecording } from '../agent/call-recorder.ts'
import type { RecordSeal } from '../agent/record-seal.ts'
import type { AuditEntry } from '../telemetry/audit.ts'
import type { ActiveRun } from './active-run.ts'
import type { ActiveRuns } from './active-runs.ts'
import type { SessionHistories } from './history.ts'
import type { RunLimits } from './limits.ts'
import type { SessionTurns } from './session-turns.ts'
import type { WaitingRuns } from './waiting-runs.ts'

export interface RunEngineOptions {
  readonly log: EventLog
  readonly agents: (name: string) => Agent | undefined
  readonly now: () => number
  readonly newId: () => string
  /**
   * The name under which this process holds leases. If it is unique and the same after a restart, sessions are free at
   * once after a crash; with a new name for each process, they are free when the leases run out.
   */
  readonly owner: string
  readonly limits?: Partial<RunLimits>
  /** Shows which checkpoints in a session this server wrote. Absent: agents continue from no checkpoint. */
  readonly seal?: RecordSeal
  /** Called for every start, refusal, cancel and end. */
  readonly onAudit?: (entry: AuditEntry) => void
  /** What the records of an agent's model calls have; absent: no requests and no prices. */
  readonly recording?: (agent: string) => CallRecording
}

/** What the parts of the engine share. */
export interface EngineParts extends RunEngineOptions {
  readonly limits: RunLimits
  readonly runs: ActiveRuns
  readonly turns: SessionTurns
  readonly waiting: WaitingRuns
  readonly histories: SessionHistories
  readonly audit: (entry: Omit<AuditEntry, 'at'>) => void
  /** Starts a run, keeps it until its session is free, and audits how it ended. */
  readonly launch: (run: ActiveRun) => void
  readonly isClosing: () => boolean
}
