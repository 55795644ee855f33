import type { Recorded } from '@millrace/core'

/** One run of a recording, and the rows before it, which an encoder must have seen. */
export interface RecordedRun {
  readonly before: readonly Recorded[]
  readonly rows: readonly Recorded[]
}

/** Cuts a recording where its runs start. What comes between two runs belongs to the one before. */
export function runsOf(rows: readonly Recorded[]): readonly RecordedRun[] {
  const starts = rows.flatMap(({ event }, i) => (event.kind === 'run.started' ? [i] : []))
  return starts.map((start, i) => ({ before: rows.slice(0, start), rows: rows.slice(start, starts[i + 1]) }))
}
