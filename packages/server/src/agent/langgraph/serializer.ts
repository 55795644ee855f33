import { Command, Send } from '@langchain/langgraph'
import { isObject, MillraceError, maxJsonDepth, parseJson } from '@millrace/core'
import { isMessage, messageData } from './message-fields.ts'
import { restoredMessage } from './message-table.ts'

/**
 * The only key with a meaning in a stored value: `{ "~": kind, "of": … }`. An object of the graph that has this key itself
 * is stored as `{ "~": "object", "of": … }`, so data cannot be mistaken for such a record.
 */
const tag = '~'

/** Each level of a value takes at most three levels when stored (a map's record, its list, an entry). */
const maxDepth = 3 * maxJsonDepth

/**
 * How checkpoints are stored. LangGraph's own serializer passes what it reads to LangChain's `load()`, which creates
 * objects of any class and reads the environment. That is unsafe here, because a checkpoint in a log may come from an
 * import. This serializer creates only data and the few kinds of object named here.
 */
export const serializer = {
  async dumpsTyped(value: unknown): Promise<[string, Uint8Array]> {
    return ['json', new TextEncoder().encode(JSON.stringify(stored(value, new Set())))]
  },
  async loadsTyped(_type: string, bytes: Uint8Array | string): Promise<unknown> {
    return readStored(bytes)
  },
}

/** Throws when the bytes are not JSON, or nested too deeply. */
export function readStored(bytes: Uint8Array | string): unknown {
  const parsed = parseJson(typeof bytes === 'string' ? bytes : new TextDecoder().decode(bytes), maxDepth)
  if ('reason' in parsed) throw new Error(`the checkpoint cannot be read: ${parsed.reason}`)
  return restored(parsed.value)
}

function stored(value: unknown, above: Set<object>): unknown {
  switch (typeof value) {
    case 'undefined':
      return { [tag]: 'undefined' }
    case 'bigint':
      return { [tag]: 'bigint', of: String(value) }
    case 'number':
      if (Number.isFinite(value) && !Object.is(value, -0)) return value
      return { [tag]: 'number', of: Object.is(value, -0) ? '-0' : String(value) }
    case 'object':
      if (value === null) return null
      return above.has(value) ? '[Circular]' : within(value, above)
    case 'function':
    case 'symbol':
      return null
    default:
      return value
  }
}

function within(value: object, above: Set<object>): unknown {
  if (above.size > maxJsonDepth) {
    const problem = `the graph's state is nested deeper than ${maxJsonDepth} levels`
    throw new MillraceError('limit', `${problem}, too deep for a checkpoint. Keep it flatter.`)
  }
  above.add(value)
  const made = storedObject(value, above)
  above.delete(value)
  return made
}

function storedObject(value: object, above: Set<object>): unknown {
  const inner = (each: unknown): unknown => stored(each, above)
  if (Array.isArray(value)) return Array.from(value, inner)
  if (value instanceof Map) return { [tag]: 'map', of: [...value].map(([key, each]) => [inner(key), inner(each)]) }
  if (value instanceof Set) return { [tag]: 'set', of: [...value].map(inner) }
  if (value instanceof Date) return { [tag]: 'date', of: value.getTime() }
  if (value instanceof Uint8Array) return { [tag]: 'bytes', of: Buffer.from(value).toString('base64') }
  if (value instanceof Error)
    return { [tag]: 'error', of: { name: String(value.name), message: String(value.message) } }
  if (isMessage(value)) {
    const data = messageData(value)
    if (data !== undefined) return { [tag]: 'message', name: data.name, of: storedFields(data.fields, inner) }
  }
  if (isOf<Send>(value, 'Send')) {
    const { node, args, timeout } = value
    return { [tag]: 'send', of: storedFields({ node, args, timeout }, inner) }
  }
  if (isOf<Command>(value, 'Command')) {
    const { graph, update, resume, goto } = value
    return { [tag]: 'command', of: storedFields({ graph, update, resume, goto }, inner) }
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') return inner(value.toJSON())
  const fields = storedFields(value, inner)
  return Object.hasOwn(fields, tag) ? { [tag]: 'object', of: fields } : fields
}

/** Recognised by LangGraph's own mark, not by class: a graph may bring its own copy. A plain object is data. */
function isOf<T>(value: object, name: string): value is T & object {
  return 'lg_name' in value && value.lg_name === name && Object.getPrototypeOf(value) !== Object.prototype
}

/** Without functions and symbols, as in JSON. `Object.fromEntries` treats `__proto__` as an ordinary key. */
function storedFields(value: object, inner: (each: unknown) => unknown): object {
  const entries = Object.entries(value).filter(([, each]) => typeof each !== 'function' && typeof each !== 'symbol')
  return Object.fromEntries(entries.map(([key, each]) => [key, inner(each)]))
}

function restored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(restored)
  if (!isObject(value)) return value
  if (!Object.hasOwn(value, tag)) return restoredFields(value)
  // An unknown record was not written by this serializer, so it is data.
  const made = restoredRecord(value)
  return made === undefined ? restoredFields(value) : made.value
}

function restoredFields(value: object): object {
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, restored(each)]))
}

function restoredRecord(record: Readonly<Record<string, unknown>>): { readonly value: unknown } | undefined {
  const { [tag]: kind, of, name } = record
  const text = typeof of === 'string' ? of : undefined
  const list = Array.isArray(of) ? (of as unknown[]) : undefined
  const fields = isObject(of) ? of : undefined
  if (kind === 'undefined') return { value: undefined }
  if (kind === 'bigint') return text !== undefined && /^-?\d{1,999}$/.test(text) ? { value: BigInt(text) } : undefined
  if (kind === 'number') return text === undefined ? undefined : { value: Number(text) }
  if (kind === 'date') return { value: new Date(typeof of === 'number' ? of : Number.NaN) }
  if (kind === 'bytes') return text === undefined ? undefined : { value: new Uint8Array(Buffer.from(text, 'base64')) }
  if (kind === 'set') return list === undefined ? undefined : { value: new Set(list.map(restored)) }
  if (kind === 'map') return restoredMap(list)
  if (fields === undefined) return undefined
  if (kind === 'object') return { value: restoredFields(fields) }
  const data = restoredFields(fields) as Readonly<Record<string, unknown>>
  if (kind === 'error') return { value: restoredError(data) }
  if (kind === 'send') return restoredSend(data)
  if (kind === 'command') return { value: restoredCommand(data) }
  const message = kind === 'message' ? restoredMessage(name, data) : undefined
  return message === undefined ? undefined : { value: message }
}

function restoredMap(list: readonly unknown[] | undefined): { readonly value: unknown } | undefined {
  const pairs = list?.map(restored)
  if (pairs === undefined || !pairs.every((pair) => Array.isArray(pair) && pair.length === 2)) return undefined
  return { value: new Map(pairs as [unknown, unknown][]) }
}

function restoredError({ name, message }: Readonly<Record<string, unknown>>): Error {
  const error = new Error(typeof message === 'string' ? message : '')
  if (typeof name === 'string' && name !== error.name) Object.defineProperty(error, 'name', { value: name })
  return error
}

/** Fields are set afterwards: the constructors of Send and Command turn data that looks like them into objects. */
function restoredSend({ node, args, timeout }: Readonly<Record<string, unknown>>): { value: object } | undefined {
  if (typeof node !== 'string') return undefined
  return { value: Object.assign(new Send(node, null), { args, timeout }) }
}

function restoredCommand({ graph, update, resume, goto }: Readonly<Record<string, unknown>>): Command {
  return Object.assign(new Command({}), { graph, update, resume, goto: goto ?? [] })
}
