import { isObject, type JsonObject } from '@millrace/core'

/** Models often put JSON in a code fence, even when instructed not to. */
function unfenced(text: string): string {
  const start = text.indexOf('\n')
  const opening = text.slice(0, start).trimEnd()
  if ((opening !== '```' && opening !== '```json') || !text.endsWith('```')) return text
  return text.slice(start, -3).trim()
}

/** The object that a model answered with, in a code fence or without one; undefined for any other text. */
export function jsonIn(text: string): JsonObject | undefined {
  const body = unfenced(text.trim())
  if (!body.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(body)
    return isObject(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}
