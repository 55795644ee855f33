import type { Interrupted, Json } from '@millrace/core'
import { visible } from './terminal.ts'

/** The question of an agent, as one line with the answers that it takes. */
export function questionText({
  message,
  reason,
  payload,
}: Pick<Interrupted, 'message' | 'reason' | 'payload'>): string {
  const asked = message ?? (payload === undefined ? reason : JSON.stringify(payload))
  return reason === 'confirmation' ? `${visible(asked)} [y/n]` : visible(asked)
}

/**
 * What a person typed, as the answer to a question: `y` and `n` confirm or decline, JSON is taken as it is, and anything
 * else is a text.
 */
export function parseAnswer(text: string): Json {
  const typed = text.trim()
  if (/^(y|yes)$/i.test(typed)) return { confirmed: true }
  if (/^(n|no)$/i.test(typed)) return { confirmed: false }
  try {
    return JSON.parse(typed) as Json
  } catch {
    return typed
  }
}
