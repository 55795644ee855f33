import type { Extra, RunEvent } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { isJsonObject, isObject, type Json, type JsonObject, type PatchOp } from '../../json/json.ts'

/** One AG-UI event as JSON. A field that is undefined is not printed. */
export interface AgUiEvent {
  readonly type: string
  readonly [field: string]: Json | undefined
}

/** A conversation message as AG-UI clients hold it. Aliases, not interfaces, so that they are JSON to the compiler. */
export type AgUiMessage = {
  id: string
  role: string
  content?: Json
  toolCalls?: AgUiToolCall[]
  name?: string
  toolCallId?: string
  subagentRunId?: string
  encryptedValue?: string
  metadata?: JsonObject
  activityType?: string
}
export type AgUiToolCall = {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
  encryptedValue?: string
  metadata?: JsonObject
}

/** What is wrong with a field: `messages[0].role must be one of …`. */
export interface FieldError {
  readonly path: string
  readonly message: string
}

/** Reads one value. What is wrong goes to `errors`; the result counts only where none was reported. */
export type Check<T> = (value: unknown, path: string, errors: FieldError[]) => T | undefined
export type Shape = Readonly<Record<string, Check<unknown>>>
type Value<C> = C extends Check<infer T> ? T : never
/** What `read` gives: required fields are there, optional ones may be undefined. */
export type Fields<R extends Shape, O extends Shape> = { readonly [K in keyof R]: Value<R[K]> } & {
  readonly [K in keyof O]?: Value<O[K]> | undefined
}

/** Reads the fields of an object by hand-written checks: on the hot path a schema library costs 20 times as much. */
export function read<R extends Shape, O extends Shape>(
  value: Readonly<Record<string, unknown>>,
  required: R,
  optional: O,
  path: string,
  errors: FieldError[],
): Fields<R, O> {
  return reader(required, optional)(value, path, errors)
}

type Given = Readonly<Record<string, unknown>>
/** The same for many objects of one shape. */
export function reader<R extends Shape, O extends Shape>(
  required: R,
  optional: O,
): (value: Given, path: string, errors: FieldError[]) => Fields<R, O> {
  const must = Object.entries(required)
  const may = Object.entries(optional)
  return (value, path, errors) => {
    const fields: Record<string, unknown> = {}
    for (const [key, check] of must) fields[key] = check(value[key], path === '' ? key : path + key, errors)
    for (const [key, check] of may) {
      const given = value[key]
      // Pre-1.0 peers write null where a field is absent.
      if (given !== undefined && given !== null) fields[key] = check(given, path + key, errors)
    }
    return fields as Fields<R, O>
  }
}

function fail(errors: FieldError[], path: string, message: string): undefined {
  errors.push({ path, message })
  return undefined
}
export const textField: Check<string> = (value, path, errors) =>
  typeof value === 'string' ? value : fail(errors, path, 'must be a string')
/** Milliseconds; the schema wants them within what an integer can hold. */
export const time: Check<number> = (value, path, errors) =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
    ? value
    : fail(errors, path, 'must be a time in milliseconds')
export const count: Check<number> = (value, path, errors) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? value
    : fail(errors, path, 'must be a whole number, not below 0')
export const flag: Check<boolean> = (value, path, errors) =>
  typeof value === 'boolean' ? value : fail(errors, path, 'must be true or false')
/** Anything but absent. What is checked here came out of JSON.parse, so it is JSON. */
export const jsonField: Check<Json> = (value, path, errors) =>
  value === undefined ? fail(errors, path, 'is missing') : (value as Json)
export const object: Check<JsonObject> = (value, path, errors) =>
  isObject(value) ? (value as JsonObject) : fail(errors, path, 'must be an object')
export const array: Check<readonly unknown[]> = (value, path, errors) =>
  Array.isArray(value) ? value : fail(errors, path, 'must be a list')
export const oneOfField =
  <const T extends string>(...allowed: readonly T[]): Check<T> =>
  (value, path, errors) =>
    allowed.find((one) => one === value) ?? fail(errors, path, `must be one of ${allowed.join(', ')}`)
export const listField =
  <T>(check: Check<T>): Check<readonly T[]> =>
  (value, path, errors) => {
    if (!Array.isArray(value)) return fail(errors, path, 'must be a list')
    const items: T[] = []
    for (const [index, item] of value.entries()) {
      const made = check(item, `${path}[${index}]`, errors)
      if (made !== undefined) items.push(made)
    }
    return items
  }

/** RFC 6901; the official schema refuses anything else, and its client then ends the run. */
const pointer = /^(?:\/(?:[^/~]|~[01])*)*$/

/** One RFC 6902 operation. Members that the operation does not define are ignored, as the RFC asks. */
export const patchOp: Check<PatchOp> = (value, path, errors) => {
  if (!isObject(value)) return fail(errors, path, 'must be an object')
  const at = value.path
  if (typeof at !== 'string' || !pointer.test(at)) return fail(errors, `${path}.path`, 'must be a JSON Pointer')
  switch (value.op) {
    case 'add':
    case 'replace':
    case 'test': {
      const given = jsonField(value.value, `${path}.value`, errors)
      return given === undefined ? undefined : { op: value.op, path: at, value: given }
    }
    case 'remove':
      return { op: value.op, path: at }
    case 'move':
    case 'copy': {
      const from = value.from
      if (typeof from !== 'string' || !pointer.test(from)) return fail(errors, `${path}.from`, 'must be a JSON Pointer')
      return { op: value.op, from, path: at }
    }
    default:
      return fail(errors, `${path}.op`, 'must be add, remove, replace, move, copy or test')
  }
}

/** What the decoder kept of a frame beside the facts. The log may come from anywhere, so it is read with care. */
export function keptOf(event: RunEvent): JsonObject {
  const extra: unknown = event.extra
  const kept = isObject(extra) ? extra['ag-ui'] : undefined
  return isObject(kept) ? (kept as JsonObject) : nothing
}
const nothing: JsonObject = {}

/** The fields of the frame that have no place in the event, to be printed again as they came. */
export function restOf(kept: JsonObject): JsonObject | undefined {
  if (!isJsonObject(kept.rest)) return undefined
  const { type: _, subagentRunId: __, ...rest } = kept.rest
  return rest
}

/** `{ extra }` to be spread into an event, or nothing when there is nothing to keep. */
export function keepUnknownFields(kept: Readonly<Record<string, Json | undefined>>): { readonly extra?: Extra } {
  const entries = Object.entries(kept).filter((entry): entry is [string, Json] => entry[1] !== undefined)
  return entries.length === 0 ? {} : { extra: { 'ag-ui': Object.fromEntries(entries) } }
}

/** JSON of anything: what nests too deeply for the printer's stack is named instead of thrown about (SPEC 3.1). */
export function print(value: Json | AgUiEvent | undefined): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return '"[nested too deeply]"'
  }
}

/** No other wire has types in capitals, with an underscore: `RUN_STARTED`. */
export function isAgUiFrame(_: Frame, value: JsonObject | undefined): boolean {
  return typeof value?.type === 'string' && /^[A-Z]+(_[A-Z]+)+$/.test(value.type)
}
