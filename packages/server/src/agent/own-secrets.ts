import { isObject, type RunEvent } from '@millrace/core'
import { PrintedPartial } from './printed-partial.ts'
import { isLong, redacted, withoutValues } from './redact.ts'

/** The secrets of the agents that this process has opened. */
const known = new Set<string>()

/** Remembers them, so that no error shows them. */
export function knowSecrets(secrets: readonly string[]): void {
  for (const secret of secrets) if (isLong(secret)) known.add(secret)
}

/**
 * What can only be a key, also where no variable has it because it stands in the code: the token behind `Bearer`, keys that
 * begin as those of well-known services do, and what an address has as a key or a password.
 */
const keys =
  /(\bBearer\s{1,4})(?=[\w.~+/-]{0,200}\d)[\w.~+/-]{8,}=*|\b(?:sk|pk|rk)-(?=[\w-]{0,200}\d)[\w-]{16,}|\bAIza[\w-]{30,}|\bgh[pousr]_\w{20,}|\bxox[abprs]-[\w-]{10,}|\bAKIA[A-Z0-9]{16}\b|([?&](?:api[-_]?key|key|access[-_]?token|token|secret)=)[^&\s"'<>]{8,}|(:\/\/[^\s:/?#@"']{0,100}:)[^\s/?#@"']{4,200}(?=@)/gi

/** The text without the secrets of agents: a server that an agent calls may repeat the key that it refuses. */
export function withoutOwnSecrets(text: string): string {
  const clean = withoutValues(text, known)
  return clean.replace(keys, (_, bearer = '', query = '', address = '') => `${bearer}${query}${address}${redacted}`)
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
