import { isObject, type Json, type JsonObject } from '@millrace/core'

const named: ReadonlySet<string> = new Set(['id', 'tool_call_id'])
const random = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

/**
 * A state whose random ids are numbers, in the order in which they appear: LangGraph gives each message of a state a new
 * UUID in each run. Two ids that were the same still are.
 */
export function withSteadyIds(state: JsonObject): JsonObject {
  const numbers = new Map<string, number>()
  const numbered = (uuid: string): string => {
    if (!numbers.has(uuid)) numbers.set(uuid, numbers.size + 1)
    return `#${numbers.get(uuid)}`
  }
  const steady = (value: Json, key: string): Json => {
    if (typeof value === 'string') return named.has(key) ? value.replace(random, numbered) : value
    if (Array.isArray(value)) return value.map((each) => steady(each, ''))
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value as JsonObject).map(([name, each]) => [name, steady(each, name)]))
  }
  return steady(state, '') as JsonObject
}
