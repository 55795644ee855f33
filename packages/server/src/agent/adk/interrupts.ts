import type { Event } from '@google/adk'
import { adkRequest, isObject, isToolError, type JsonObject, type PendingCalls, pendingCalls } from '@millrace/core'

/** The calls of a run that wait for a person. `settling` names long-running tools whose first answer is final (workflows). */
export function waitingCalls(settling: ReadonlySet<string>): PendingCalls {
  return pendingCalls(({ name, response }, waits) => settling.has(name) || (!waits && isDone(response)))
}

/** An answer without a status does not tell that the tool is done. */
function isDone(response: JsonObject | undefined): boolean {
  return isToolError(response?.error) || typeof response?.status === 'string'
}

/** The calls of the turn in which a confirmation was requested, except those that it is about. */
export function callsBeside(confirmation: Event, events: readonly Event[]): readonly { id: string; name: string }[] {
  const pinned = new Set(
    (confirmation.content?.parts ?? []).flatMap(({ functionCall }) => {
      const original = functionCall?.args?.originalFunctionCall
      return functionCall?.name === adkRequest.confirmation && isObject(original) ? [original.id] : []
    }),
  )
  if (pinned.size === 0) return []
  const callsOf = (event: Event) => (event.content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? [])
  const turn = events.findLast((event) => event !== confirmation && callsOf(event).some(({ id }) => pinned.has(id)))
  return (turn === undefined ? [] : callsOf(turn)).flatMap(({ id, name }) =>
    id === undefined || name === undefined || pinned.has(id) ? [] : [{ id, name }],
  )
}
