import type { Event } from '@google/adk'
import { adkRequest, isObject, type JsonObject, type PendingCalls, pendingCalls } from '@millrace/core'

/** Words by which a long-running tool says that it is not done. Any other `status` says that it is. */
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

/** Which calls of a run wait for a person. `settling` names long-running tools whose first answer is their last (workflows). */
export function waitingCalls(settling: ReadonlySet<string>): PendingCalls {
  return pendingCalls(({ name, response }) => settling.has(name) || isDone(response))
}

function isDone(response: JsonObject | undefined): boolean {
  if (response === undefined) return false
  if (response.error !== undefined) return true
  return typeof response.status === 'string' && !waitingWords.has(response.status.toLowerCase())
}

/** The calls of the turn that a confirmation was asked in, apart from those it asks about. */
export function turnBeside(confirmation: Event, events: readonly Event[]): readonly { id: string; name: string }[] {
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
