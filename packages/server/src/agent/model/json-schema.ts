import { isObject } from '@millrace/core'

/** Bounds that genai writes as strings. */
const numeric: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])

/** A genai Schema (types in capitals, `nullable`) as JSON Schema. A JSON Schema is returned as it is. */
export function toolJsonSchema(schema: unknown): Record<string, unknown> {
  const converted = convert(schema)
  return isObject(converted) ? { ...converted } : { type: 'object', properties: {} }
}

function convert(schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const made: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(schema)) {
    if (value === undefined || key === 'nullable' || key === 'propertyOrdering') continue
    if (key === 'type' && typeof value === 'string') made.type = value.toLowerCase()
    else if (key === 'properties' && isObject(value)) {
      made.properties = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, convert(inner)]))
    } else if (key === 'items') made.items = convert(value)
    else if (key === 'anyOf' && Array.isArray(value)) made.anyOf = value.map(convert)
    else if (numeric.has(key) && typeof value === 'string') made[key] = Number(value)
    else made[key] = value
  }
  if (schema.nullable === true && typeof made.type === 'string') made.type = [made.type, 'null']
  return made
}
