import { isObject, type RunEvent } from '@millrace/core'
import { PrintedPartial } from './printed-partial.ts'
import { isLong, withoutKeys, withoutValues } from './redact.ts'

/** The secrets of the agents that this process has opened. */
const known = new Set<string>()

/** Remembers them, so that no error shows them. */
export function knowSecrets(secrets: readonly string[]): void {
  for (const secret of secrets) if (isLong(secret)) known.add(secret)
}

/** The text without the secrets of agents: a server that an agent calls may repeat the key that it refuses. */
export function withoutOwnSecrets(text: string): string {
  return withoutKeys(withoutValues(text, known))
}

/**
 * The event with its error or log line cleaned. What an agent says, what its tools return and its state are left as they
 * are. The event is not checked yet, and may be anything.
 */
export function withCleanError(event: RunEvent): RunEvent {
  if (!isObject(event) || event instanceof PrintedPartial) return event
  if (event.kind === 'agent') return cleaned(event, 'event', 'errorMessage')
  if (event.kind === 'log') return typeof event.message === 'string' ? withMessage(event) : event
  return cleaned(event, 'error', 'message')
}

function withMessage<E extends { readonly message: string }>(event: E): E {
  return { ...event, message: withoutOwnSecrets(event.message) }
}

/** The event with a clean text at `field.key`, where it has one. */
function cleaned(event: RunEvent, field: string, key: string): RunEvent {
  const inner: unknown = Reflect.get(event, field)
  const text = isObject(inner) ? inner[key] : undefined
  if (!isObject(inner) || typeof text !== 'string') return event
  return { ...event, [field]: { ...inner, [key]: withoutOwnSecrets(text) } }
}
