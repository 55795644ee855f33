import type { JsonObject } from './json.ts'

/** The top-level keys whose value is not the same reference. A shared value is unchanged. */
export function changedKeys(before: JsonObject, after: JsonObject): readonly string[] {
  const keys = Object.keys(after).filter((key) => !Object.hasOwn(before, key) || before[key] !== after[key])
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) keys.push(key)
  return keys
}
