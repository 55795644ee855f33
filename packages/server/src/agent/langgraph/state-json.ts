import { type Json, maxJsonDepth, parseJson } from '@millrace/core'
import { isMessage, messageData } from './message-fields.ts'

/**
 * The value of a channel or a tool as JSON; undefined when it has none. `lost` is called for circular and for too deeply
 * nested values: a graph's state may hold anything.
 */
export function toJson(value: unknown, lost: () => void = () => {}): Json | undefined {
  try {
    const text = JSON.stringify(value, plain)
    if (text === undefined) return undefined
    // The patch puts it under a key of the state, which adds a level.
    const parsed = parseJson(text, maxJsonDepth - 2)
    if ('value' in parsed) return parsed.value
  } catch {
    // A circular value, a bigint, a toJSON that throws: reported below.
  }
  lost()
  return undefined
}

/** Called by JSON.stringify with the parent object as `this`; `value` is already the result of toJSON, if there is one. */
function plain(this: unknown, key: string, value: unknown): unknown {
  const own: unknown = typeof this === 'object' && this !== null ? Reflect.get(this, key) : value
  if (typeof own !== 'object' || own === null) return value
  if (own instanceof Map) return [...own]
  if (own instanceof Set) return [...own]
  if (own instanceof Error) return { name: own.name, message: own.message }
  return isMessage(own) ? plainMessage(own) : value
}

/** A message as LangGraph's own server shows it: without empty fields, and not in LangChain's envelope. */
function plainMessage(message: { getType(): string }): object | undefined {
  const fields = messageData(message)?.fields
  if (fields === undefined) return undefined
  // `metadata` of a tool message only holds the version of LangChain.
  const shown = Object.entries(fields).filter(
    ([key, value]) => key === 'content' || (key !== 'metadata' && !isEmpty(value)),
  )
  return { type: message.getType(), ...Object.fromEntries(shown) }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
