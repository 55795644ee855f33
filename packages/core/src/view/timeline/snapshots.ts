import type { JsonObject } from '../../json/json.ts'
import type { Execution, Timeline } from './state.ts'

/** Seed 000's snapshot: one node execution as ADK Studio's inspector shows it. */
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
 * Seed 000's `snapshots`, from the start of the session: no cap, error steps included (upstream has neither), what a
 * crash lost left out. The snapshot of an execution that did not change is the same object.
 */
export function snapshots({ executions }: Pick<Timeline, 'executions'>): readonly StateSnapshot[] {
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

/** The seed knows three: what waits for a person still runs, what a cancel stopped failed. */
function statusOf({ status, error }: Execution): StateSnapshot['status'] {
  if (status === 'ok') return 'success'
  if (status === 'error') return 'error'
  return status === 'interrupted' && error !== undefined ? 'error' : 'running'
}
