// What every implementation of `EventLog` needs, as `@millrace/core/store`: leases, following, counts and checks.

export { factsVersion, printFacts, readFacts } from './facts-text.ts'
export { type FollowSource, followRows } from './follow.ts'
export {
  acquire,
  checkWriter,
  deadRuns,
  type Granted,
  isLive,
  noLeases,
  release,
  renew,
  type SessionLeases,
  takeOver,
} from './lease.ts'
export { rowKindOf } from './retention.ts'
export { searchedText, searchLimit, searchWords, wordsIn } from './search.ts'
export {
  checkCursor,
  checkHistory,
  checkNames,
  draftTime,
  emptySession,
  eventText,
  pageSize,
  tally,
} from './session-info.ts'
export { isShared, isSharedArtifact, sharedUser, shareState, writesShared } from './shared.ts'
