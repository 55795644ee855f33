import type { Recorded } from '../event/run-event.ts'

/**
 * A pure fold over a log. `apply` returns the same reference when nothing changed, shares structure with the state
 * before, and costs O(1) amortised per event however long the log is (SPEC 5).
 */
export interface View<S> {
  readonly name: string
  readonly initial: S
  /** The result depends on partials (the wait for a first token): refold from the start when some are inserted later. */
  readonly dependsOnPartials?: true
  apply(state: S, recorded: Recorded): S
}

export function fold<S>(view: View<S>, rows: Iterable<Recorded>, from: S = view.initial): S {
  let state = from
  for (const row of rows) state = view.apply(state, row)
  return state
}
