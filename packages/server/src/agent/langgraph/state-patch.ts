import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject, PatchOp } from '@millrace/core'

/**
 * The JSON Patch from one value to another. Lists are compared by their items, not by position: a message that leaves
 * a long conversation is one operation. (Core's `diffState` compares by position, to show differences on the page.)
 */
export function valuePatch(path: string, before: Json | undefined, after: Json | undefined): readonly PatchOp[] {
  if (before === undefined) return after === undefined ? [] : [{ op: 'add', path, value: after }]
  if (after === undefined) return [{ op: 'remove', path }]
  if (isDeepStrictEqual(before, after)) return []
  const whole: PatchOp = { op: 'replace', path, value: after }
  if (isList(before) && isList(after)) {
    const patch = listPatch(path, before, after)
    return patch.length > after.length ? [whole] : patch
  }
  if (isMap(before) && isMap(after)) {
    return Object.keys({ ...before, ...after }).flatMap((key) =>
      valuePatch(`${path}/${pointerToken(key)}`, before[key], after[key]),
    )
  }
  return [whole]
}

/** Walks both lists: common items stay, the others are changed in place, removed or added. */
function listPatch(path: string, before: readonly Json[], after: readonly Json[]): readonly PatchOp[] {
  const same = before.findIndex((item, i) => i >= after.length || !isDeepStrictEqual(item, after[i]))
  const start = same === -1 ? before.length : same
  const were = before.slice(start).map((item) => JSON.stringify(item))
  const are = after.slice(start).map((item) => JSON.stringify(item))
  const left = new Set(were)
  const patch: PatchOp[] = []
  let next = 0
  const add = (until: number): void => {
    for (; next < until; next++) {
      patch.push({ op: 'add', path: `${path}/${start + next}`, value: after[start + next] ?? null })
    }
  }
  for (const [i, item] of were.entries()) {
    const found = are.indexOf(item, next)
    const incoming = are[next]
    const place = `${path}/${start + next}`
    if (found >= 0) {
      add(found)
      next += 1
    } else if (incoming === undefined || left.has(incoming)) patch.push({ op: 'remove', path: place })
    else {
      patch.push(...valuePatch(place, before[start + i], after[start + next]))
      next += 1
    }
  }
  add(are.length)
  return patch
}

export const pointerToken = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1')

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** An object without a key `__proto__`: a patch must not contain that key, so such an object is replaced as a whole. */
function isMap(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value) && !Object.hasOwn(value, '__proto__')
}
