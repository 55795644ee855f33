import type { Event } from '@google/adk'
import { isObject, MillraceError } from '@millrace/core'

/** What ADK writes for an event that does nothing. Shared: nobody changes an event. */
const noActions = Object.freeze({
  stateDelta: Object.freeze({}),
  artifactDelta: Object.freeze({}),
  requestedAuthConfigs: Object.freeze({}),
  requestedToolConfirmations: Object.freeze({}),
})

/**
 * An event as JSON that nobody changes later. What a tool or callback put in that is not JSON fails the run, by name.
 * A partial is only copied: it is one of thousands, and ADK lets go of its content at once. Not so its actions, which
 * are one object for all events of a model turn, and still filled in when the turn ends.
 */
export function jsonEvent(event: Event): unknown {
  if (event.partial === true) {
    const copy: Record<string, unknown> = {}
    for (const key of Object.keys(event)) {
      const value: unknown = Reflect.get(event, key)
      if (value !== undefined) copy[key] = value
    }
    copy.actions = noActions
    return copy
  }
  try {
    return JSON.parse(JSON.stringify(event))
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
    const keys = Object.keys(isObject(event.actions.stateDelta) ? event.actions.stateDelta : {})
    const where = keys.length === 0 ? '' : ` (state keys: ${keys.join(', ')})`
    throw new MillraceError('agent-error', `'${event.author}' yielded an event that is not JSON${where}: ${reason}`)
  }
}
