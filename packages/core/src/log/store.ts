// What every implementation of `EventLog` needs, as `@millrace/core/store`: leases, following, counts and checks.

export { FormedRow } from '../event/formed-row.ts'
export { jsonSize } from '../json/measure.ts'
export { checkpointBlock, checkpointText, isCheckpointDue } from './checkpoint-rule.ts'
export { factsVersion, printFacts, readFacts } from './facts-text.ts'
export {
  comparePlaces,
  type FindEntry,
  type FindPlace,
  findCursor,
  findEntries,
  findLimit,
  findVersion,
  foundKinds,
  foundRow,
  inexactRank,
  placeOfCursor,
} from './find.ts'
export { type FindWords, queryWords } from './find-words.ts'
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
export { PassingMap } from './passing-map.ts'
export { pagesOfHistory, type RestoredPage, type RestoredRow, restoredPages } from './restored-rows.ts'
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
  tallyRestored,
} from './session-info.ts'
export { agentSession, checkSessionId, idInKey, sessionKey, withOwnId } from './session-key.ts'
export { hasStatus, type KeptStatus, keptStatus, statusKept } from './session-status.ts'
export { asideKey, asideUser, isAsideUser, ownerOfAside } from './set-aside.ts'
export { isShared, isSharedArtifact, sharedUser, shareState, writesShared } from './shared.ts'
