import { MillraceError } from '@millrace/core'

/** Why a store could not do its work: `facts.reason` of its `store-failed`, for programs. */
export const storeReasons = ['full', 'locked', 'damaged', 'foreign', 'newer', 'read-only', 'io'] as const
export type StoreReason = (typeof storeReasons)[number]

const sentences: Readonly<Record<StoreReason, string>> = {
  full: 'there is no room left for it',
  locked: 'another process has it open',
  damaged: 'the file is damaged',
  foreign: 'the file is not a Millrace log',
  newer: 'the file was written by a newer Millrace',
  'read-only': 'it cannot be written to',
  io: 'the disk refused',
}

/** SQLite's primary result codes: the low byte of the extended ones. */
const bySqlite: Readonly<Record<number, StoreReason>> = {
  5: 'locked',
  6: 'locked',
  8: 'read-only',
  11: 'damaged',
  13: 'full',
  14: 'read-only',
  26: 'damaged',
}
const bySystem: Readonly<Record<string, StoreReason>> = {
  EACCES: 'read-only',
  EPERM: 'read-only',
  EROFS: 'read-only',
  ENOSPC: 'full',
  EDQUOT: 'full',
  // A file where the data folder should be.
  EEXIST: 'foreign',
  ENOTDIR: 'foreign',
}

/** The one error of a store that failed. `place` is the file or folder, `doing` what was tried. */
export function storeFailed(
  reason: StoreReason,
  place: string,
  doing: string,
  facts: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): MillraceError {
  return new MillraceError(
    'store-failed',
    `cannot ${doing} ${place}: ${sentences[reason]}`,
    { reason, place, ...facts },
    cause,
  )
}

/** Whatever was thrown on the way to the disk, as our one error; ours pass through. */
export function asStoreFailure(cause: unknown, place: string, doing: string): MillraceError {
  if (cause instanceof MillraceError) return cause
  const { code, rawCode } = codes(cause)
  const reason = (rawCode === undefined ? undefined : bySqlite[rawCode & 0xff]) ?? bySystem[code] ?? 'io'
  return storeFailed(reason, place, doing, { source: code }, cause)
}

function codes(cause: unknown): { readonly code: string; readonly rawCode?: number } {
  if (typeof cause !== 'object' || cause === null) return { code: '' }
  const code = 'code' in cause ? String(cause.code) : ''
  return 'rawCode' in cause && typeof cause.rawCode === 'number' ? { code, rawCode: cause.rawCode } : { code }
}
