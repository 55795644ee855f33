import type { Json } from '../../json/json.ts'

/**
 * A value in a few characters, for the label of an edge. It prints no more of the value than fits: a state may have
 * megabytes, or be deeper than the call stack.
 */
export function preview(value: Json, length = 40): string {
  const text = print(value, length, 3)
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}

function print(value: Json, room: number, depth: number): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, room + 1))
  if (value === null || typeof value !== 'object') return String(value)
  const items: Iterable<readonly [string | number, Json]> = Array.isArray(value)
    ? value.entries()
    : Object.entries(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (depth === 0) return `${open}…${close}`
  let text = open
  for (const [key, item] of items) {
    if (text.length > room) break
    const name = typeof key === 'number' ? '' : `${key.slice(0, room)}: `
    text += `${text.length > 1 ? ', ' : ''}${name}${print(item, room - text.length, depth - 1)}`
  }
  return text + close
}
