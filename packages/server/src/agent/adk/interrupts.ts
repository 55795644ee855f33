import type { Event } from '@google/adk'
import { adkRequest, isObject, type JsonObject, type PendingCalls, pendingCalls } from '@millrace/core'

/** Values of `status` by which a long-running tool reports that it is not done. Any other value means done. */
const waitingWords: ReadonlySet<string> = new Set([
  'pending',
  'in_progress',
  'in-progress',
  'running',
  'queued',
  'started',
  'submitted',
  'waiting',
])

/** The calls of a run that wait for a person. `settling` names long-running tools whose first answer is final (workflows). */
export function waitingCalls(settling: ReadonlySet<string>): PendingCalls {
  return pendingCalls(({ name, response }) => settling.has(name) || isDone(response))
}

function isDone(response: JsonObject | undefined): boolean {
  if (response === undefined) return false
  if (response.error !== undefined) return true
  return typeof response.status === 'string' && !waitingWords.has(response.status.toLowerCase())
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
