import { type Json, maxJsonDepth } from './json.ts'

export interface Measure {
  /** About how many characters its JSON has. */
  readonly size: number
  /** 0 for a value that is no container. */
  readonly depth: number
}

const known = new WeakMap<object, Measure>()
const nothing: Measure = { size: 0, depth: 0 }
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
  const keys = Array.isArray(value) ? 0 : Object.keys(value).reduce((sum, key) => sum + key.length + 3, 0)
  const inner: readonly Json[] = Object.values(value)
  const made = inner.reduce<Measure>(({ size, depth }, item) => {
    const part = measure(item, own, level + 1)
    return { size: size + part.size + 1, depth: Math.max(depth, part.depth) }
  }, nothing)
  const whole = { size: made.size + keys + 2, depth: made.depth + 1 }
  if (!own.has(value) && whole.depth <= maxJsonDepth) known.set(value, whole)
  return whole
}
