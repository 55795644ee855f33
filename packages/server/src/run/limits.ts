/** What bounds a run, and all of them together. Times in milliseconds. */
export interface RunLimits {
  /** Runs at once in this process. */
  readonly perProcess: number
  /** Runs at once of one user. */
  readonly perUser: number
  /** Wall clock of one run. */
  readonly timeout: number
  /** How long a run stays its writer's without a sign of life: after a crash, nobody else ends it sooner. */
  readonly leaseTtl: number
  /** Events of one run. */
  readonly events: number
  /** Characters of one event as JSON, roughly. */
  readonly eventSize: number
  /** Events, and characters, that may wait for the store before the agent waits too. */
  readonly buffer: number
  readonly bufferSize: number
  /** After a run was stopped: how long its session waits for the agent to let go. It cannot be forced to. */
  readonly abortGrace: number
  /** How often one run is taken up again after a crash: what it does may be what crashes the process. */
  readonly resumes: number
}

export const runLimits: RunLimits = {
  perProcess: 200,
  perUser: 50,
  timeout: 10 * 60_000,
  leaseTtl: 15_000,
  events: 1_000_000,
  eventSize: 4 * 1024 * 1024,
  buffer: 512,
  bufferSize: 8 * 1024 * 1024,
  abortGrace: 1_000,
  resumes: 3,
}
