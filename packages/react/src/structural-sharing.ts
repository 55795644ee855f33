/** How many levels are compared, which is deeper than selectors build. Below that, values are compared by identity. */
const deepest = 4

/**
 * The result of a selector, in which every part that equals its earlier value is the earlier object: a list rebuilt for
 * one token consists of the old rows and one new row. Only the lists and objects around a reused part are copied.
 */
export function shareUnchanged<T>(before: unknown, after: T, depth: number = deepest): T {
  if (Object.is(before, after) || depth === 0) return after
  if (Array.isArray(before) && Array.isArray(after)) return sharedList(before, after, depth) as T
  if (isPlain(before) && isPlain(after)) return sharedFields(before, after, depth) as T
  return after
}

function sharedList(before: readonly unknown[], after: readonly unknown[], depth: number): readonly unknown[] {
  let made: unknown[] | undefined
  let same = before.length === after.length
  for (let i = 0; i < after.length; i++) {
    const item = after[i]
    if (Object.is(item, before[i])) continue
    const part = shareUnchanged(before[i], item, depth - 1)
    same &&= Object.is(part, before[i])
    if (Object.is(part, item)) continue
    made ??= [...after]
    made[i] = part
  }
  return same ? before : (made ?? after)
}

type Fields = Readonly<Record<string, unknown>>

function sharedFields(before: Fields, after: Fields, depth: number): Fields {
  let made: Record<string, unknown> | undefined
  const keys = Object.keys(after)
  let same = Object.keys(before).length === keys.length
  for (const key of keys) {
    const known = Object.hasOwn(before, key)
    const part = known ? shareUnchanged(before[key], after[key], depth - 1) : after[key]
    same &&= known && Object.is(part, before[key])
    if (Object.is(part, after[key])) continue
    made ??= { ...after }
    made[key] = part
  }
  return same ? before : (made ?? after)
}

function isPlain(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
