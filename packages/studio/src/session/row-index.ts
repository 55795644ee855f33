import type { Recorded } from '@millrace/core'
import { firstIndexWhere } from '@millrace/core/persistent'

/** The index of the row with this seq, or of the last row before it; -1 if there is none. */
export function rowIndexAt(rows: readonly Recorded[], seq: number): number {
  return firstIndexWhere(rows.length, (index) => (rows[index]?.seq ?? 0) > seq) - 1
}
