/**
 * The data of a `trace` frame, by the name that the schema gives it (docs/requirements.md, R0): for front ends that read
 * the frames themselves.
 */
export interface TraceEvent {
  readonly type: 'node_start' | 'node_end' | 'state' | 'done'
  /** The name of the agent or step. */
  readonly node?: string
  readonly step?: number
  /** With `node_end`. */
  readonly duration_ms?: number
  /** With `done`. */
  readonly total_steps?: number
  readonly state_snapshot?: TraceSnapshot
  /** The top-level keys of the output state. */
  readonly state_keys?: string[]
}

/** The state around one execution. What is nested deeper than three levels is cut. */
export interface TraceSnapshot {
  readonly input: Record<string, unknown>
  readonly output: Record<string, unknown>
}

/** The same, as the schema names it on the server's side. */
export type TraceEventV2 = TraceEvent
