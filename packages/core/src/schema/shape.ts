import { isObject, isOpaque } from '../json/json.ts'
import { Fault, faultAt } from './fault.ts'
import { data, dataObject, type FieldReader, notObject, string } from './readers.ts'

/**
 * An object with known fields. `snake_case` spellings of them are read, `null` is absent, fields that are not known are
 * kept as they are (SPEC 1.1, 1.2). `required` fields must be there. Only the first wrong field is reported.
 */
export function shape(fields: Readonly<Record<string, FieldReader>>, required: readonly string[] = []): FieldReader {
  const known = new Map(Object.entries(fields))
  const spelled = new Map(
    Object.keys(fields)
      .map((name) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name] as const)
      .filter(([snake, name]) => snake !== name),
  )
  return (value, strict) => {
    if (!isObject(value) || (strict && isOpaque(value))) return notObject
    const result = strict ? checked(value, known) : corrected(value, known, spelled)
    if (result instanceof Fault) return result
    for (const name of required) if (result[name] === undefined) return faultAt(`.${name}`, 'is missing')
    return result
  }
}

type Fields = Readonly<Record<string, unknown>>

function checked(value: Fields, known: ReadonlyMap<string, FieldReader>): Fields | Fault {
  for (const key in value) {
    const field = value[key]
    if (field === undefined) continue
    const reader = known.get(key)
    if (field === null && reader !== undefined) return faultAt(`.${key}`, 'is null: leave the field out instead')
    const read = (reader ?? data)(field, true)
    if (read instanceof Fault) return read.under(`.${key}`)
  }
  return value
}

/**
 * Two passes: nearly every event needs no correction, and then none is copied. The two commonest readers are checked
 * in place, because the call through the table costs more than the check.
 */
function corrected(
  value: Fields,
  known: ReadonlyMap<string, FieldReader>,
  spelled: ReadonlyMap<string, string>,
): Fields | Fault {
  for (const key in value) {
    const reader = known.get(key)
    if (reader === undefined) {
      if (spelled.has(key)) return respelled(value, known, spelled)
      continue
    }
    const field = value[key]
    if (field === undefined || (reader === string && typeof field === 'string')) continue
    if (reader === dataObject && isObject(field)) continue
    const read = field === null ? undefined : reader(field, false)
    if (read === field) continue
    if (read instanceof Fault) return read.under(`.${key}`)
    return respelled(value, known, spelled)
  }
  return value
}

function respelled(
  value: Fields,
  known: ReadonlyMap<string, FieldReader>,
  spelled: ReadonlyMap<string, string>,
): Fields | Fault {
  const entries: [string, unknown][] = []
  for (const key in value) {
    const field = value[key]
    const camel = spelled.get(key)
    // Where both spellings are there, the camelCase one counts, and the other is an unknown field.
    const name = camel === undefined || (value[camel] ?? undefined) !== undefined ? key : camel
    const reader = known.get(name)
    if (reader === undefined) entries.push([key, field])
    else if (field !== null && field !== undefined) {
      const read = reader(field, false)
      if (read instanceof Fault) return read.under(`.${key}`)
      entries.push([name, read])
    }
  }
  return Object.fromEntries(entries) // defines, so that a key named __proto__ stays data
}
