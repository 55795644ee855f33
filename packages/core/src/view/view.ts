import type { Recorded } from '../event/run-event.ts'

/**
 * A pure fold over a log. `apply` returns the same reference when nothing changed, shares structure with the state
 * before, and costs O(1) amortised per event however long the log is (SPEC 5).
 */
export interface View<S> {
  readonly name: string
  readonly initial: S
  /** It tells of partials too (the wait for a first token): who brings some later folds it anew. */
  readonly dependsOnPartials?: true
  apply(state: S, recorded: Recorded): S
}

export function fold<S>(view: View<S>, rows: Iterable<Recorded>, from: S = view.initial): S {
  let state = from
  for (const row of rows) state = view.apply(state, row)
  return state
}
