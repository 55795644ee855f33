import { isJsonObject, type Json, type JsonObject, maxJsonDepth } from './json.ts'
import { changesOf } from './wide-object.ts'

export interface Measure {
  /** About how many characters its JSON has. */
  readonly size: number
  /** 0 for a value that is no container. */
  readonly depth: number
}

const known = new WeakMap<object, Measure>()
/** Measuring a value of this size again is cheaper than remembering it: a state may hold a million of them. */
const small = 64
const tooDeep: Measure = { size: 1, depth: Number.POSITIVE_INFINITY }

/**
 * How large and how deep a value is; a shared part counts each time it occurs. Containers do not change once they are
 * made, so each is measured once, except those that are still being written (`own`).
 */
export function measure(value: Json, own: ReadonlySet<object>, level = 0): Measure {
  if (typeof value === 'string') return { size: value.length + 2, depth: 0 }
  if (value === null || typeof value !== 'object') return { size: 4, depth: 0 }
  const before = known.get(value)
  if (before !== undefined) return before
  if (level > maxJsonDepth) return tooDeep
  const wide = isJsonObject(value) ? measureWide(value, own, level) : undefined
  if (wide !== undefined) return wide
  let [size, depth] = [2, 0]
  const add = (item: Json): void => {
    if (typeof item === 'string') size += item.length + 3
    else if (item === null || typeof item !== 'object') size += 5
    else {
      const part = measure(item, own, level + 1)
      size += part.size + 1
      if (part.depth > depth) depth = part.depth
    }
  }
  if (isJsonObject(value))
    for (const key of Object.keys(value)) {
      size += key.length + 3
      add(value[key] ?? null)
    }
  else for (const item of value) add(item)
  const whole = { size, depth: depth + 1 }
  if (whole.size > small && !own.has(value) && whole.depth <= maxJsonDepth) known.set(value, whole)
  return whole
}

const none: ReadonlySet<object> = new Set()

/** About how many characters the JSON of a value has. Parts that were measured before are not walked again. */
export function jsonSize(value: Json): number {
  return measure(value, none).size
}

/** By depth, how many values of a wide object's base have it; and the size of all. */
interface BaseMeasure {
  readonly size: number
  readonly depths: readonly number[]
}
const bases = new WeakMap<object, BaseMeasure>()

/** A wide object is measured by its changes: the base, which its versions share, is walked once. */
function measureWide(value: JsonObject, own: ReadonlySet<object>, level: number): Measure | undefined {
  const changes = changesOf(value)
  if (changes === undefined) return undefined
  const base = bases.get(changes.base) ?? measureBase(changes.base, own, level)
  const depths = [...base.depths]
  let { size } = base
  const count = (entries: readonly [string, Json][], sign: 1 | -1): void => {
    for (const [key, item] of entries) {
      const part = measure(item, own, level + 1)
      size += sign * (part.size + key.length + 4)
      const depth = Math.min(part.depth, maxJsonDepth + 1)
      depths[depth] = (depths[depth] ?? 0) + sign
    }
  }
  count(changes.gone, -1)
  count(changes.made, 1)
  return {
    size,
    depth:
      Math.max(
        0,
        depths.findLastIndex((each) => each > 0),
      ) + 1,
  }
}

function measureBase(base: JsonObject, own: ReadonlySet<object>, level: number): BaseMeasure {
  const depths: number[] = []
  let size = 2
  let changing = false
  for (const [key, item] of Object.entries(base)) {
    changing ||= typeof item === 'object' && item !== null && own.has(item)
    const part = measure(item, own, level + 1)
    size += part.size + key.length + 4
    const depth = Math.min(part.depth, maxJsonDepth + 1)
    depths[depth] = (depths[depth] ?? 0) + 1
  }
  const made = { size, depths }
  if (!changing) bases.set(base, made)
  return made
}
