import type { Draft, Recorded } from '../event/run-event.ts'

/** Drafts as a log would record them: seq from 1, a fixed time where the draft has none. */
export function recorded(drafts: readonly Draft[]): readonly Recorded[] {
  return drafts.map(({ at, run, event }, i) => ({ seq: i + 1, at: at ?? 1_700_000_000_000 + i, run, event }))
}
