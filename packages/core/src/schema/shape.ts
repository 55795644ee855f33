import { isObject, isOpaque, whyNotJson } from '../json/json.ts'

/** What is wrong with a value and where in it: `.content.parts[2].text: not a string`. */
export class Fault {
  readonly at: string
  constructor(at: string) {
    this.at = at
  }
}

/**
 * Reads one value of a known shape. Off a wire (`strict` false) it corrects what is only spelled otherwise: it returns
 * the same reference when nothing had to change, a corrected copy when something had, a Fault when it is not that shape.
 * From a disk or an agent (`strict` true) nothing is corrected: what is not canonical is a Fault, and user data is
 * checked to be JSON.
 */
export type FieldReader = (value: unknown, strict: boolean) => unknown

const expected = (what: string): Fault => new Fault(`: not ${what}`)
const notString = expected('a string')
const notBoolean = expected('a boolean')
const notNumber = expected('a finite number')
const notObject = expected('an object')
const notArray = expected('an array')

export const string: FieldReader = (value) => (typeof value === 'string' ? value : notString)
export const boolean: FieldReader = (value) => (typeof value === 'boolean' ? value : notBoolean)
export const number: FieldReader = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : notNumber)

/** A name that some producers write as a number: `errorCode: 429`. */
export const code: FieldReader = (value, strict) =>
  typeof value === 'number' && !strict ? String(value) : string(value, strict)

/** A string of a closed set. */
export function oneOf(names: readonly string[]): FieldReader {
  const known = new Set(names)
  const fault = expected(`one of ${names.join(', ')}`)
  return (value) => (typeof value === 'string' && known.has(value) ? value : fault)
}

/** A user's own data: never touched (SPEC 1.2). What JSON.parse gave is JSON; what an agent made is checked. */
export const data: FieldReader = (value, strict) => {
  const fault = strict ? whyNotJson(value) : undefined
  return fault === undefined ? value : new Fault(fault)
}

/** A user's own data that must be an object: tool arguments, state. */
export const dataObject: FieldReader = (value, strict) => (isObject(value) ? data(value, strict) : notObject)

export function list(item: FieldReader): FieldReader {
  return (value, strict) => {
    if (!Array.isArray(value)) return notArray
    let copy: unknown[] | undefined
    for (let i = 0; i < value.length; i++) {
      const read = item(value[i], strict)
      if (read === value[i]) continue
      if (read instanceof Fault) return new Fault(`[${i}]${read.at}`)
      copy ??= [...value]
      copy[i] = read
    }
    return copy ?? value
  }
}

/** An object whose keys are a user's and whose values all have one shape. */
export function mapOf(item: FieldReader): FieldReader {
  return (value, strict) => {
    if (!isObject(value)) return notObject
    for (const key in value) {
      const read = item(value[key], strict)
      if (read instanceof Fault) return new Fault(`.${key}${read.at}`)
    }
    return value
  }
}

/**
 * An object with known fields. `snake_case` spellings of them are read, `null` is absent, fields that are not known are
 * kept as they came (SPEC 1.1, 1.2). `required` fields must be there.
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
    for (const name of required) if (result[name] === undefined) return new Fault(`.${name}: missing`)
    return result
  }
}

type Fields = Readonly<Record<string, unknown>>

function checked(value: Fields, known: ReadonlyMap<string, FieldReader>): Fields | Fault {
  for (const key in value) {
    const field = value[key]
    if (field === undefined) continue
    const reader = known.get(key)
    if (field === null && reader !== undefined) return new Fault(`.${key}: null, where absent is meant`)
    const read = (reader ?? data)(field, true)
    if (read instanceof Fault) return new Fault(`.${key}${read.at}`)
  }
  return value
}

/**
 * Two passes: nearly every event needs no correction, and then none is copied. The two commonest readers are looked at
 * in place, because the call through the table costs more than what it checks.
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
    if (read instanceof Fault) return new Fault(`.${key}${read.at}`)
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
    // With both spellings there, the camelCase one is meant, and the other is a field we do not know.
    const name = camel === undefined || (value[camel] ?? undefined) !== undefined ? key : camel
    const reader = known.get(name)
    if (reader === undefined) entries.push([key, field])
    else if (field !== null && field !== undefined) {
      const read = reader(field, false)
      if (read instanceof Fault) return new Fault(`.${key}${read.at}`)
      entries.push([name, read])
    }
  }
  return Object.fromEntries(entries) // defines, so that a key named __proto__ stays data
}
