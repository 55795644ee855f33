import { isUnseenEnd } from '../event/problem.ts'
import type { RunFinished } from '../event/run-event.ts'
import type { SessionInfo, SessionQuery, SessionStatus } from './event-log.ts'

/** Whether the end of a run says that nobody saw how it ended. */
export function wasCutOff({ outcome, error }: Pick<RunFinished, 'outcome' | 'error'>): boolean {
  return outcome === 'failed' && isUnseenEnd(error)
}

/** The status in one word, as stores keep it: `cut` is a session that failed because it was cut off. */
export type KeptStatus = SessionStatus | 'cut'
export function keptStatus({ status, cutOff }: Pick<SessionInfo, 'status' | 'cutOff'>): KeptStatus {
  return cutOff === true ? 'cut' : status
}
export function statusKept(kept: KeptStatus): Pick<SessionInfo, 'status' | 'cutOff'> {
  return kept === 'cut' ? { status: 'failed', cutOff: true } : { status: kept }
}

/** Whether a list or a search with this query takes sessions with this status. */
export function hasStatus(
  info: Pick<SessionInfo, 'status' | 'cutOff'>,
  { status, cutOff }: Pick<SessionQuery, 'status' | 'cutOff'>,
): boolean {
  return (status === undefined || info.status === status) && (cutOff === undefined || (info.cutOff === true) === cutOff)
}
