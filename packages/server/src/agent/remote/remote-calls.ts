import type { Problem, RunEvent } from '@millrace/core'

/** Puts records of model calls between the events of another server, as far as its wire shows them (SPEC 1.9). */
export interface RemoteCalls {
  /** The event, with the records that belong before and after it. */
  take(event: RunEvent): Iterable<RunEvent>
  /** The ends of the calls that are open as the run ends, and why it failed. */
  end(error: Problem | undefined): Iterable<RunEvent>
}
