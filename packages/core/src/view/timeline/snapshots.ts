import type { JsonObject } from '../../json/json.ts'
import type { Execution, Timeline } from './state.ts'

/** One node execution as the inspector of ADK Studio shows it (docs/requirements.md, R0). */
export interface StateSnapshot {
  readonly nodeId: string
  readonly timestamp: number
  readonly inputState: JsonObject
  readonly outputState: JsonObject
  readonly duration: number
  readonly status: 'running' | 'success' | 'error'
  readonly error?: string
}

/**
 * The snapshots from the start of the session. Unlike in ADK Studio there is no cap, and failed steps are included;
 * superseded executions are left out. The snapshot of an execution that did not change is the same object.
 */
export function snapshots({ executions }: Pick<Timeline, 'executions'>): StateSnapshot[] {
  return executions
    .toArray()
    .filter(({ superseded }) => superseded !== true)
    .map(snapshotOf)
}

const made = new WeakMap<Execution, StateSnapshot>()

export function snapshotOf(execution: Execution): StateSnapshot {
  const known = made.get(execution)
  if (known !== undefined) return known
  const { path, startedAt, input, output, duration = 0, error } = execution
  const snapshot: StateSnapshot = {
    nodeId: path,
    timestamp: startedAt,
    inputState: input,
    outputState: output ?? {},
    duration,
    status: statusOf(execution),
    ...(error === undefined ? {} : { error: error.message }),
  }
  made.set(execution, snapshot)
  return snapshot
}

/** A snapshot has three statuses: an execution that waits for a person counts as running, a cancelled one as failed. */
function statusOf({ status, error }: Execution): StateSnapshot['status'] {
  if (status === 'ok') return 'success'
  if (status === 'error') return 'error'
  return status === 'interrupted' && error !== undefined ? 'error' : 'running'
}
