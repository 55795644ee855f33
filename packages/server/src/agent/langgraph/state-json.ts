import { type Json, maxJsonDepth, parseJson } from '@millrace/core'
import { isMessage, messageData } from './message-fields.ts'

/**
 * What a channel or a tool holds as JSON; undefined for what is none. `lost` is told of circles and of what nests too
 * deeply: a graph's state may hold anything.
 */
export function toJson(value: unknown, lost: () => void = () => {}): Json | undefined {
  try {
    const text = JSON.stringify(value, plain)
    if (text === undefined) return undefined
    // A patch brings it to a key of the state, which is one level more.
    const parsed = parseJson(text, maxJsonDepth - 2)
    if ('value' in parsed) return parsed.value
  } catch {
    // A circle, a bigint, a toJSON that throws: told below.
  }
  lost()
  return undefined
}

/** Called by JSON.stringify with the holder as `this`: `value` has been through toJSON already, where it has one. */
function plain(this: unknown, key: string, value: unknown): unknown {
  const own: unknown = typeof this === 'object' && this !== null ? Reflect.get(this, key) : value
  if (typeof own !== 'object' || own === null) return value
  if (own instanceof Map) return [...own]
  if (own instanceof Set) return [...own]
  if (own instanceof Error) return { name: own.name, message: own.message }
  return isMessage(own) ? plainMessage(own) : value
}

/** A message as LangGraph's own server shows it, without what is empty; not in LangChain's wrapping. */
function plainMessage(message: { getType(): string }): object | undefined {
  const fields = messageData(message)?.fields
  if (fields === undefined) return undefined
  // `metadata` of a tool's message is LangChain's own: the version that made it.
  const told = Object.entries(fields).filter(
    ([key, value]) => key === 'content' || (key !== 'metadata' && !isEmpty(value)),
  )
  return { type: message.getType(), ...Object.fromEntries(told) }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
