import { MillraceError } from '@millrace/core'

/** Why a store failed: `facts.reason` of its `store-failed` errors, for programs. */
export const storeReasons = [
  'full',
  'locked',
  'damaged',
  'foreign',
  'newer',
  'read-only',
  'unusable',
  'removed',
  'unlocked',
  'io',
] as const
export type StoreReason = (typeof storeReasons)[number]

const sentences: Readonly<Record<StoreReason, string>> = {
  full: 'the disk or the quota is full; free some space',
  locked: 'another process has it open; stop that process or use another folder',
  damaged: 'the file is damaged; restore it from a backup',
  foreign: 'it is not a Millrace log; choose another data folder',
  newer: 'a newer Millrace wrote the file; upgrade this one',
  'read-only': 'this user may not write to it; change its permissions',
  unusable: 'there can be no folder at this path; choose another data folder',
  removed:
    'it was removed or replaced while in use, so nothing more is recorded; put the file back if it was the database, and restart',
  unlocked: 'it was removed while in use and has been made again; leave it in place',
  io: 'the disk reported an error',
}

/** By SQLite's primary result code, which is the low byte of the extended code. */
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
  EISDIR: 'foreign',
  // Folders under /proc, links that lead to themselves, names that are too long.
  ENOENT: 'unusable',
  ELOOP: 'unusable',
  ENAMETOOLONG: 'unusable',
  EINVAL: 'unusable',
  ERR_INVALID_ARG_VALUE: 'unusable',
}

/** The error of a store that failed. `place` is the file or folder, `doing` is what was attempted. */
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

/** Turns any error into a `store-failed`; a MillraceError stays as it is. */
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
