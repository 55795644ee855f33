import type { RowKind } from '@millrace/core'

/** The kind for each number in the databases. Only append to it, because existing rows hold the numbers. */
export const rowKindNames: readonly RowKind[] = ['other', 'whole', 'partial', 'end', 'start']
export const rowKindNumbers: Readonly<Record<RowKind, number>> = { other: 0, whole: 1, partial: 2, end: 3, start: 4 }
