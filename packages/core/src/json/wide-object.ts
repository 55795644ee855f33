import type { Json, JsonObject } from './json.ts'

/** An object with more keys than this is wide. */
export const wideFrom = 512

/** What became of one key. `added`: it comes after the keys of the base. Undefined: the key was removed. */
type Cell = { readonly value: Json; readonly added: boolean } | undefined

/**
 * The changes since the last whole copy. Each version has a map of its own, so it is kept short: with n keys, a copy
 * of all of them is made after about 2√n changes.
 */
interface Layers {
  base: JsonObject
  /** How many keys the base has. */
  width: number
  layer: Map<string, Cell>
  /** How many keys there are now. */
  count: number
  /** The base before this one and the keys that changed in between, until the next copy: it keeps all keys in memory. */
  prior?: { readonly base: JsonObject; readonly keys: readonly string[] } | undefined
}

const known = new WeakMap<object, Layers>()

/** What was copied here. A container with a wide object inside was, because a change copies all that is around it. */
const copies = new WeakSet<object>()

/** How many keys a plain wide object has: counting them takes as long as a copy, and a refused patch leaves it plain. */
const widths = new WeakMap<object, number>()

/**
 * A copy of an object, to be written with `setKey` and `deleteKey` before anything else sees it. A wide object is not
 * copied: what is returned looks like a plain object, but is a base that all versions share, and a few changes. Without
 * this, 1,000 changes of an object with 100,000 keys take two minutes. `structuredClone` refuses it: see `plainJson`.
 */
export function copyObject(object: JsonObject): JsonObject {
  const made = copyOf(object)
  copies.add(made)
  return made
}

function copyOf(object: JsonObject): JsonObject {
  const from = known.get(object)
  if (from !== undefined) return shown({ ...from, layer: new Map(from.layer), prior: undefined })
  const width = widths.get(object) ?? Object.keys(object).length
  if (width <= wideFrom) return { ...object }
  widths.set(object, width)
  return shown({ base: object, width, layer: new Map(), count: width })
}

/** A copy of a list, to be written before anything else sees it. */
export function copyList(list: readonly Json[]): Json[] {
  const made = [...list]
  copies.add(made)
  return made
}

/** Writes a key of an object that `copyObject` made. */
export function setKey(object: JsonObject, key: string, value: Json): void {
  const layers = known.get(object)
  if (layers === undefined) {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
    return
  }
  const { base, layer } = layers
  const cell = layer.get(key)
  const inBase = cell === undefined && !layer.has(key) && Object.hasOwn(base, key)
  if (cell === undefined) layer.delete(key) // a key that comes back comes last
  layer.set(key, { value, added: cell?.added ?? !inBase })
  if (cell === undefined && !inBase) layers.count += 1
  settle(layers)
}

/** Removes a key, which must be there, of an object that `copyObject` made. */
export function deleteKey(object: JsonObject, key: string): void {
  const layers = known.get(object)
  if (layers === undefined) {
    Reflect.deleteProperty(object, key)
    return
  }
  if (Object.hasOwn(layers.base, key)) layers.layer.set(key, undefined)
  else layers.layer.delete(key)
  layers.count -= 1
  settle(layers)
}

/** How many keys the object has. */
export function keyCount(object: JsonObject): number {
  return known.get(object)?.count ?? widths.get(object) ?? Object.keys(object).length
}

/** The keys that may differ between two versions of one wide object; undefined where only a comparison of all can say. */
export function touchedBetween(before: JsonObject, after: JsonObject): ReadonlySet<string> | undefined {
  const [was, is] = [known.get(before), known.get(after)]
  const base = was?.base ?? before
  if (is?.base === base) return new Set([...(was?.layer.keys() ?? []), ...is.layer.keys()])
  if (is?.prior?.base === base) return new Set([...(was?.layer.keys() ?? []), ...is.prior.keys, ...is.layer.keys()])
  return was?.base === after ? new Set(was.layer.keys()) : undefined
}

/** A wide object as its base and what changed since: which values of the base are gone, and which entries are new. */
export function changesOf(
  object: JsonObject,
):
  | { readonly base: JsonObject; readonly gone: readonly [string, Json][]; readonly made: readonly [string, Json][] }
  | undefined {
  const layers = known.get(object)
  if (layers === undefined) return undefined
  const { base, layer } = layers
  const gone: [string, Json][] = []
  const made: [string, Json][] = []
  for (const [key, cell] of layer) {
    if (Object.hasOwn(base, key)) gone.push([key, Reflect.get(base, key)])
    if (cell !== undefined) made.push([key, cell.value])
  }
  return { base, gone, made }
}

/** The same value made of plain objects only, for code that clones it or looks behind it. */
export function plainJson<T extends Json>(value: T): T
export function plainJson(value: Json): Json {
  if (value === null || typeof value !== 'object' || !copies.has(value)) return value
  return isList(value) ? plainList(value) : plainObject(value)
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

function plainList(list: readonly Json[]): readonly Json[] {
  let made: Json[] | undefined
  for (const [i, item] of list.entries()) {
    const plain = plainJson(item)
    if (plain === item) continue
    made ??= [...list]
    made[i] = plain
  }
  return made ?? list
}

function plainObject(object: JsonObject): JsonObject {
  const layers = known.get(object)
  const whole = layers === undefined ? object : wholeOf(layers)
  let made: JsonObject | undefined
  for (const key of Object.keys(whole)) {
    const item = Reflect.get(whole, key)
    const plain = plainJson(item)
    if (plain === item) continue
    made ??= { ...whole }
    setKey(made, key, plain)
  }
  return made ?? whole
}

/** Begins again with a plain object once the changes are many. */
function settle(layers: Layers): void {
  if (layers.layer.size ** 2 <= 4 * layers.width) return
  layers.prior = { base: layers.base, keys: [...layers.layer.keys()] }
  layers.base = wholeOf(layers)
  layers.width = layers.count
  layers.layer = new Map()
}

/** All keys in one plain object. It is not kept: many versions may be printed, one after the other. */
function wholeOf({ base, layer }: Layers): JsonObject {
  if (layer.size === 0) return base
  const entries: [string, Json][] = []
  for (const key of Object.keys(base)) {
    const cell = layer.get(key)
    if (cell === undefined && !layer.has(key)) entries.push([key, Reflect.get(base, key)])
    else if (cell?.added === false) entries.push([key, cell.value])
  }
  for (const [key, cell] of layer) if (cell?.added === true) entries.push([key, cell.value])
  return Object.fromEntries(entries)
}

function cellOf({ base, layer }: Layers, key: string): { readonly value: Json } | undefined {
  const cell = layer.get(key)
  if (cell !== undefined || layer.has(key)) return cell
  return Object.hasOwn(base, key) ? { value: Reflect.get(base, key) } : undefined
}

/** What readers see: an object with all keys, which cannot be written. */
function shown(layers: Layers): JsonObject {
  const get = (target: object, key: string | symbol): unknown => {
    const cell = typeof key === 'string' ? cellOf(layers, key) : undefined
    if (cell !== undefined) return cell.value
    // `JSON.stringify` prints a plain object six times as fast.
    return key === 'toJSON' ? () => wholeOf(layers) : Reflect.get(target, key)
  }
  const object: JsonObject = new Proxy<JsonObject>(
    {},
    {
      get,
      has: (target, key) => (typeof key === 'string' && cellOf(layers, key) !== undefined) || Reflect.has(target, key),
      ownKeys: () => Reflect.ownKeys(wholeOf(layers)),
      getOwnPropertyDescriptor: (_target, key) => {
        const cell = typeof key === 'string' ? cellOf(layers, key) : undefined
        return cell && { value: cell.value, writable: false, enumerable: true, configurable: true }
      },
      set: () => false,
      defineProperty: () => false,
      deleteProperty: () => false,
    },
  )
  known.set(object, layers)
  return object
}
