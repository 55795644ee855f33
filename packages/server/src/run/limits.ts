/** Limits of one run, and of all runs together. Times are in milliseconds. */
export interface RunLimits {
  /** Runs at once in this process. */
  readonly perProcess: number
  /** Runs at once of one user. */
  readonly perUser: number
  /** Runs that may wait for a slot, in all and of one user; 0: none waits, and a start without a slot is refused. */
  readonly queue: number
  readonly queuePerUser: number
  /** How long one run may take. */
  readonly timeout: number
  /** How long a lease lasts without renewal: after a crash, another process waits this long before it ends the run. */
  readonly leaseTtl: number
  /** Events in one run. */
  readonly events: number
  /** Characters of one event as JSON, estimated. */
  readonly eventSize: number
  /** How many events, and characters, may wait for the store before the agent has to wait. */
  readonly buffer: number
  readonly bufferSize: number
  /** How long the session of a stopped run waits for the agent to return: an agent cannot be forced to. */
  readonly abortGrace: number
  /** How often one run is resumed after a crash: the run itself may be what crashes the process. */
  readonly resumes: number
}

export const runLimits: RunLimits = {
  perProcess: 200,
  perUser: 50,
  queue: 0,
  queuePerUser: 0,
  timeout: 10 * 60_000,
  leaseTtl: 15_000,
  events: 1_000_000,
  eventSize: 4 * 1024 * 1024,
  buffer: 512,
  bufferSize: 8 * 1024 * 1024,
  abortGrace: 1_000,
  resumes: 3,
}
