import { isObject, type Json, type JsonObject, whyNotJson } from '../json/json.ts'
import { Fault, faultAt, mostErrors } from './fault.ts'

/**
 * Reads one value of a known shape, or returns a Fault. Off a wire (`strict` false) it corrects what is only spelled
 * differently: it returns the same reference when nothing had to change, and a corrected copy when something had. From
 * a disk or an agent (`strict` true) it corrects nothing: a value that is not canonical is a Fault, and user data must
 * be JSON.
 *
 * Written by hand, because on the hot path a schema library costs 20 times as much.
 */
export type FieldReader<T = unknown> = (value: unknown, strict: boolean) => T | Fault

const mustBe = (what: string): Fault => faultAt('', `must be ${what}`)
const notString = mustBe('a string')
const notBoolean = mustBe('true or false')
const notNumber = mustBe('a finite number')
const notCount = mustBe('a whole number, not below 0')
const notTime = mustBe('a time in milliseconds')
const notArray = mustBe('a list')
const missing = faultAt('', 'is missing')
export const notObject: Fault = mustBe('an object')

export const string: FieldReader<string> = (value) => (typeof value === 'string' ? value : notString)
export const boolean: FieldReader<boolean> = (value) => (typeof value === 'boolean' ? value : notBoolean)
export const number: FieldReader<number> = (value) =>
  typeof value === 'number' && Number.isFinite(value) ? value : notNumber
export const count: FieldReader<number> = (value) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : notCount

/** Milliseconds, fractions included, within the range where whole numbers are exact. */
export const time: FieldReader<number> = (value) =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : notTime

/** A name that some producers write as a number: `errorCode: 429`. */
export const code: FieldReader<string> = (value, strict) =>
  typeof value === 'number' && !strict ? String(value) : string(value, strict)

/** A string of a closed set. */
export function oneOf<const Name extends string>(names: readonly Name[]): FieldReader<Name> {
  const known: ReadonlySet<unknown> = new Set(names)
  const fault = mustBe(`one of ${names.join(', ')}`)
  return (value) => (known.has(value) ? (value as Name) : fault)
}

/**
 * A user's own data, which is never changed (SPEC 1.2). What JSON.parse gave is JSON; what an agent made is checked.
 */
export const data: FieldReader<Json> = (value, strict) => {
  if (value === undefined) return missing
  const why = strict ? whyNotJson(value) : undefined
  if (why === undefined) return value as Json
  const end = why.lastIndexOf(': ')
  return faultAt(why.slice(0, end), `is ${why.slice(end + 2)}`)
}

/** A user's own data that must be an object: tool arguments, state. */
export const dataObject: FieldReader<JsonObject> = (value, strict) =>
  isObject(value) ? (data(value, strict) as JsonObject | Fault) : notObject

/** A list whose items all have one shape. Every wrong item is reported, not only the first. */
export function list<T>(item: FieldReader<T>): FieldReader<readonly T[]> {
  return (value, strict) => {
    if (!Array.isArray(value)) return notArray
    let copy: unknown[] | undefined
    let faults: Fault[] | undefined
    for (let i = 0; i < value.length; i++) {
      const read = item(value[i], strict)
      if (read === value[i]) continue
      if (read instanceof Fault) {
        faults ??= []
        if (faults.push(read.under(`[${i}]`)) === mostErrors) break
      } else {
        copy ??= [...value]
        copy[i] = read
      }
    }
    return faults === undefined ? ((copy ?? value) as readonly T[]) : Fault.join(faults)
  }
}

/** An object whose keys are a user's and whose values all have one shape. */
export function mapOf(item: FieldReader): FieldReader {
  return (value, strict) => {
    if (!isObject(value)) return notObject
    for (const key in value) {
      const read = item(value[key], strict)
      if (read instanceof Fault) return read.under(`.${key}`)
    }
    return value
  }
}
