import type { JsonObject } from './json.ts'
import { keyCount, touchedBetween, wideFrom } from './wide-object.ts'

/**
 * The top-level keys whose value is not the same reference. A shared value is unchanged. They are in the order of their
 * object, or sorted where it is wide, because finding the order of a wide object would take a walk through all of it.
 */
export function changedKeys(before: JsonObject, after: JsonObject): readonly string[] {
  const isWide = keyCount(after) > wideFrom
  const touched = isWide ? touchedBetween(before, after) : undefined
  if (touched !== undefined) return [...touched].filter((key) => differs(before, after, key)).sort()
  const keys = Object.keys(after).filter((key) => differs(before, after, key))
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) keys.push(key)
  return isWide ? keys.sort() : keys
}

function differs(before: JsonObject, after: JsonObject, key: string): boolean {
  return Object.hasOwn(before, key) !== Object.hasOwn(after, key) || before[key] !== after[key]
}
