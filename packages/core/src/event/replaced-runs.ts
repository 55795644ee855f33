import type { Recorded, RunStarted, Superseded } from './run-event.ts'

/**
 * What a run takes the place of, as if each earlier run had superseded all that it said (SPEC 4.7). A view applies these
 * rows before the `run.started` that they come from. Tasks, artifacts and data of those runs stay.
 */
export function replacedRows(
  { seq, at }: Recorded,
  { replaces = [] }: RunStarted,
): readonly (Recorded & { readonly event: Superseded })[] {
  return replaces.map(({ run, messages, nodes }) => ({
    seq,
    at,
    run,
    event: { kind: 'superseded', messages, nodes },
  }))
}
