import type { SessionFacts } from '../event/session-facts.ts'
import { jsonSize } from '../json/measure.ts'
import { printFacts } from './facts-text.ts'

/** A checkpoint comes after so many rows, and after more of them where its text is long: it stays small beside them. */
const rowsBetween = 256
const textPerRow = 128
/** Older checkpoints are thinned to the newest of so many rows: they serve reads of the past (`?at=`). */
export const checkpointBlock = 4096

/** Whether so many rows have come since the last checkpoint that the next one may be worth its place. */
export function isCheckpointDue(seq: number, saved: number): boolean {
  return seq - saved >= rowsBetween
}

/** The text of a checkpoint after `last`; undefined when it is not worth its place. */
export function checkpointText(facts: SessionFacts, last: number): string | undefined {
  const most = (facts.seq - last) * textPerRow
  if (!isCheckpointDue(facts.seq, last) || jsonSize(facts.state) > most) return undefined
  const text = printFacts(facts)
  return text.length > most ? undefined : text
}
