import type { NodeId, RunEvent } from '../../event/run-event.ts'
import type { JsonObject } from '../../json/json.ts'
import { Sequence } from '../../persistent/sequence.ts'

/** One event that changed the state: the top-level keys that it changed, its node and its author. */
export interface StateChange {
  readonly seq: number
  readonly at: number
  readonly run: string
  readonly keys: readonly string[]
  readonly node?: NodeId
  readonly author?: string
}

export interface SessionState {
  /** The state after the last event. */
  readonly current: JsonObject
  /** Every change, oldest first. */
  readonly changes: Sequence<StateChange>
  readonly past: Past
}

/** What `stateAt` needs: the changing events, and the state before every 32nd of them. Not printed. */
interface Past {
  readonly events: Sequence<RunEvent>
  readonly checkpoints: Sequence<JsonObject>
  toJSON(): undefined
}

export const emptySessionState: SessionState = {
  current: {},
  changes: Sequence.empty,
  past: { events: Sequence.empty, checkpoints: Sequence.empty, toJSON: () => undefined },
}
