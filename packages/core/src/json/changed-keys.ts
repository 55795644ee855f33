import type { JsonObject } from './json.ts'

/** Top-level keys whose value is not the same reference: what is shared is unchanged. */
export function changedKeys(before: JsonObject, after: JsonObject): readonly string[] {
  const keys = Object.keys(after).filter((key) => !Object.hasOwn(before, key) || before[key] !== after[key])
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) keys.push(key)
  return keys
}
