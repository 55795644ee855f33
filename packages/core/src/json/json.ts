import { holdsMore, maxJsonNodes } from './json-nodes.ts'

/** JSON as it comes off a wire or out of a store. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

/** One RFC 6902 operation. */
export type PatchOp =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return isObject(value)
}

/**
 * JSON nested deeper than this is refused. V8 parses any depth, but its stack overflows when it prints more than about
 * 4,000 levels, so such a value could never be stored or sent on.
 */
export const maxJsonDepth = 512

/** Parses text off a wire or a disk without throwing: the value, or the reason why there is none. */
export function parseJson(
  text: string,
  depth: number = maxJsonDepth,
  nodes: number = maxJsonNodes,
): { readonly value: Json } | { readonly reason: string } {
  if (holdsMore(text, nodes)) return { reason: `more than ${nodes} values` }
  let value: Json
  try {
    value = JSON.parse(text)
  } catch {
    return { reason: 'not JSON' }
  }
  // Each level needs two characters, so most frames are too short to be too deep and are not walked.
  if (text.length > 2 * depth && deeper(value, depth)) return { reason: `nested deeper than ${depth}` }
  return { value }
}

function deeper(value: unknown, than: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (than === 0) return true
  if (Array.isArray(value)) return value.some((item) => deeper(item, than - 1))
  for (const key in value) if (deeper(Reflect.get(value, key), than - 1)) return true
  return false
}

/** Why a value could not be printed as JSON and read back the same; undefined when it can. Cycles show up as depth. */
export function whyNotJson(value: unknown, depth: number = maxJsonDepth): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined
    case 'number':
      return Number.isFinite(value) ? undefined : ': not a finite number'
    case 'object':
      return value === null ? undefined : whyNotContainer(value, depth)
    default:
      return `: a ${typeof value}, not JSON`
  }
}

function whyNotContainer(value: object, depth: number): string | undefined {
  if (depth === 0) return `: nested deeper than ${maxJsonDepth}, or in a circle`
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const fault = whyNotJson(value[i], depth - 1)
      if (fault !== undefined) return `[${i}]${fault}`
    }
    return undefined
  }
  if (isOpaque(value)) return `: a ${Object.prototype.toString.call(value).slice(8, -1)}, not JSON`
  for (const key in value) {
    const child: unknown = Reflect.get(value, key)
    if (child === undefined) continue // JSON prints it as absent, which is what it means
    const fault = whyNotJson(child, depth - 1)
    if (fault !== undefined) return `.${key}${fault}`
  }
  return undefined
}

/** Whether JSON.stringify would silently turn the value into something else: a Map into {}, a Date (by toJSON) into text. */
export function isOpaque(value: object): boolean {
  if ('toJSON' in value && typeof value.toJSON === 'function') return true
  if (Object.getPrototypeOf(value) === Object.prototype) return false
  return (
    value instanceof Map ||
    value instanceof Set ||
    value instanceof RegExp ||
    value instanceof Error ||
    value instanceof Promise ||
    ArrayBuffer.isView(value) ||
    value instanceof ArrayBuffer
  )
}

/** Whether two values are equal as JSON: the order of keys does not count. Values too deep to compare count as different. */
export function sameJson(a: unknown, b: unknown): boolean {
  try {
    return equal(a, b)
  } catch {
    return false
  }
}
function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isObject(a) || !isObject(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]))
  // No lists are made: long conversations are compared before each model call.
  let count = 0
  for (const key in a) {
    const value = a[key]
    if (value === undefined) continue
    if (value !== b[key] && !(Object.hasOwn(b, key) && equal(value, b[key]))) return false
    count += 1
  }
  for (const key in b) if (b[key] !== undefined) count -= 1
  return count === 0
}
