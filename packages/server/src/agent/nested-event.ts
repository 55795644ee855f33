import type { AdkEvent } from '@millrace/core'

/**
 * Whether an event comes from inside a function call: from a specialist, not from an agent of the conversation. Such
 * events carry the call's id in `isolationScope` and in the branch (`burn_analyst@<call>`). A non-streaming `/run` leaves
 * them out, as ADK does; the log and every stream have them. Branches of a ParallelAgent are not nested.
 */
export function isNested({ branch, isolationScope }: AdkEvent): boolean {
  if (typeof isolationScope !== 'string' || branch === undefined) return false
  return branch.split('.').some((segment) => segment.endsWith(`@${isolationScope}`))
}
