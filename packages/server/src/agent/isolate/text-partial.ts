import { isObject } from '@millrace/core'

/**
 * Whether a value is the commonest event: a partial with text and nothing else. The guard for all events
 * (`isRunEvent`) says the same of it, but takes several times as long, and most events of a run are such partials.
 */
export function isTextPartial(value: unknown): boolean {
  if (!isObject(value) || value.kind !== 'agent' || typeof value.message !== 'string' || !isObject(value.event))
    return false
  for (const key in value)
    if (key !== 'kind' && key !== 'event' && key !== 'message' && !(key === 'node' && typeof value.node === 'string'))
      return false
  return isTextEvent(value.event)
}

/** Fields that a canonical event must have. */
const required = 4

function isTextEvent(event: Readonly<Record<string, unknown>>): boolean {
  if (event.partial !== true) return false
  let found = 0
  for (const key in event) {
    const field = event[key]
    if (key === 'id' || key === 'author' || key === 'invocationId') {
      if (typeof field !== 'string') return false
      found += 1
    } else if (key === 'timestamp') {
      if (!Number.isFinite(field)) return false
      found += 1
    } else if (key === 'content') {
      if (!isTextContent(field)) return false
    } else if (key === 'actions') {
      if (!isObject(field) || !hasNoActions(field)) return false
    } else if (key === 'longRunningToolIds') {
      if (!Array.isArray(field) || field.length > 0) return false
    } else if (key !== 'partial' && !(key === 'branch' && typeof field === 'string')) return false
  }
  return found === required
}

function isTextContent(content: unknown): boolean {
  if (!isObject(content) || !Array.isArray(content.parts)) return false
  for (const key in content) if (key !== 'parts' && !(key === 'role' && typeof content.role === 'string')) return false
  return content.parts.every((part: unknown) => {
    if (!isObject(part) || typeof part.text !== 'string') return false
    for (const key in part)
      if (key !== 'text' && !(key === 'thought' && typeof part.thought === 'boolean')) return false
    return true
  })
}

const actionNames: ReadonlySet<string> = new Set([
  'stateDelta',
  'artifactDelta',
  'requestedAuthConfigs',
  'requestedToolConfirmations',
])

/** ADK writes these on every event, empty on a partial. */
function hasNoActions(actions: Readonly<Record<string, unknown>>): boolean {
  for (const key in actions) {
    const action = actions[key]
    if (!actionNames.has(key) || !isObject(action)) return false
    for (const _ in action) return false
  }
  return true
}
