/** Deeper than any selector builds; what lies below is compared by identity. */
const deepest = 4

/**
 * What a selector made, with every part that says what it said before being the very object it was before: a list made
 * anew for one token is the old rows and one new one. Nothing is copied but the lists and objects around such a part.
 */
export function shared<T>(before: unknown, after: T, depth: number = deepest): T {
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
    const part = shared(before[i], item, depth - 1)
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
    const part = known ? shared(before[key], after[key], depth - 1) : after[key]
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
