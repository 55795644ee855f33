import { isObject } from '../json/json.ts'
import { Fault } from './fault.ts'
import { type FieldReader, notObject } from './readers.ts'

export type FieldReaders = Readonly<Record<string, FieldReader>>
const none: readonly Fault[] = []
type Value<Reader> = Reader extends FieldReader<infer T> ? T : never

/** What `fields` reads: required fields are there, optional ones may be absent. */
export type Fields<R extends FieldReaders, O extends FieldReaders> = { readonly [K in keyof R]: Value<R[K]> } & {
  readonly [K in keyof O]?: Value<O[K]>
}

/**
 * Takes the named fields out of an object, typed; other fields are left alone. Every wrong field is reported, not only
 * the first. An optional field may be null, which is how older peers write that it is absent.
 */
export function fields<R extends FieldReaders, O extends FieldReaders>(
  required: R,
  optional: O,
): FieldReader<Fields<R, O>> {
  const must = Object.entries(required)
  const may = Object.entries(optional)
  return (value, strict) => {
    if (!isObject(value)) return notObject
    const result: Record<string, unknown> = {}
    let faults = none
    for (const [key, reader] of must) {
      const read = reader(value[key], strict)
      if (read instanceof Fault) faults = [...faults, read.under(`.${key}`)]
      else result[key] = read
    }
    for (const [key, reader] of may) {
      const given = value[key]
      if (given === undefined || given === null) continue
      const read = reader(given, strict)
      if (read instanceof Fault) faults = [...faults, read.under(`.${key}`)]
      else result[key] = read
    }
    return faults === none ? (result as Fields<R, O>) : Fault.join(faults)
  }
}
