import type { Event, LlmResponse } from '@google/adk'
import { isObject, MillraceError } from '@millrace/core'

/** What ADK writes for an event without actions. One object for all events, which is safe because it is frozen. */
const noActions = Object.freeze({
  stateDelta: Object.freeze({}),
  artifactDelta: Object.freeze({}),
  requestedAuthConfigs: Object.freeze({}),
  requestedToolConfirmations: Object.freeze({}),
})

const noIds: readonly string[] = Object.freeze([])

/**
 * An event as JSON that does not change later. A value that is not JSON, put in by a tool or callback, fails the run with
 * an error that names the author. A partial is only copied flat: there are thousands, and ADK does not touch its content
 * again. Its actions are replaced: they are one object for all events of a model turn, and still change until it ends.
 * The invocation is the run: ADK makes an id of its own, which neither the user's messages nor the spans of the run have.
 */
export function jsonEvent(event: Event, run: string): unknown {
  if (event.partial === true) {
    const copy: Record<string, unknown> = {}
    for (const key of Object.keys(event)) {
      const value: unknown = Reflect.get(event, key)
      if (value !== undefined) copy[key] = value
    }
    copy.actions = noActions
    copy.invocationId = run
    return copy
  }
  try {
    return JSON.parse(JSON.stringify({ ...event, invocationId: run }))
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : ''
    const keys = Object.keys(isObject(event.actions.stateDelta) ? event.actions.stateDelta : {})
    const where = keys.length === 0 ? '' : ` (state keys: ${keys.join(', ')})`
    throw new MillraceError('agent-error', `'${event.author}' yielded an event that is not JSON${where}: ${reason}`)
  }
}

/** The event that ADK makes of a partial answer of a model, as `jsonEvent` copies it. */
export function spokenEvent(answer: LlmResponse, run: string, author: string, branch: string | undefined): unknown {
  const event: Record<string, unknown> = { invocationId: run, author }
  if (branch !== undefined) event.branch = branch
  event.id = newEventId()
  event.actions = noActions
  event.longRunningToolIds = noIds
  // ADK uses the same clock for its events.
  event.timestamp = Date.now()
  for (const key of Object.keys(answer)) {
    const value: unknown = Reflect.get(answer, key)
    if (value !== undefined) event[key] = value
  }
  return event
}

const signs = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** All pairs of signs: an id has four, which is a third of the work of eight single signs. */
const pairs = [...signs].flatMap((one) => [...signs].map((other) => one + other))
const ids = pairs.length ** 4

/** An id in the form of ADK's own ids. */
export function newEventId(): string {
  let left = Math.floor(Math.random() * ids)
  let id = ''
  for (let i = 0; i < 4; i++) {
    id += pairs[left % pairs.length]
    left = Math.floor(left / pairs.length)
  }
  return id
}

/** Whether it has text other than white space, or a call, a picture or code. */
export function hasContent({ content }: Pick<Event, 'content'>): boolean {
  return content?.parts?.some(({ text }) => text === undefined || /\S/.test(text)) === true
}
