// What every store needs and none should write again: `@millrace/core/store`, for those who implement `EventLog`.

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
