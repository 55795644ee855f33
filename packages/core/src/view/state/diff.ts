import type { Json, JsonObject } from '../../json/json.ts'
import { pointerSegment } from '../../json/pointer.ts'

/** One difference between two states, at a JSON Pointer. `before` is absent for `added`, `after` for `removed`. */
export interface Difference {
  readonly path: string
  readonly kind: 'added' | 'changed' | 'removed'
  readonly before?: Json
  readonly after?: Json
}

interface Pair {
  readonly path: string
  readonly before: Json | undefined
  readonly after: Json | undefined
}

/**
 * The differences between two states, leaf by leaf, in the order of their keys. Parts that both share by reference are
 * skipped. It uses its own stack, because a state may be 20,000 levels deep.
 */
export function diffState(before: JsonObject, after: JsonObject): readonly Difference[] {
  const differences: Difference[] = []
  const left: Pair[] = [{ path: '', before, after }]
  for (let pair = left.pop(); pair !== undefined; pair = left.pop()) {
    const { path, before: was, after: is } = pair
    if (was === is) continue
    if (was === undefined && is !== undefined) differences.push({ path, kind: 'added', after: is })
    else if (was !== undefined && is === undefined) differences.push({ path, kind: 'removed', before: was })
    else if (alike(was, is)) for (const inner of pairs(path, was, is).reverse()) left.push(inner)
    else if (was !== undefined && is !== undefined) differences.push({ path, kind: 'changed', before: was, after: is })
  }
  return differences
}

type Container = JsonObject | readonly Json[]

function alike(was: Json | undefined, is: Json | undefined): boolean {
  return isContainer(was) && isContainer(is) && Array.isArray(was) === Array.isArray(is)
}

function isContainer(value: Json | undefined): value is Container {
  return typeof value === 'object' && value !== null
}

function pairs(path: string, was: Json | undefined, is: Json | undefined): Pair[] {
  if (!isContainer(was) || !isContainer(is)) return []
  const keys = new Set([...Object.keys(was), ...Object.keys(is)])
  return [...keys].map((key) => ({
    path: path + pointerSegment(key),
    before: own(was, key),
    after: own(is, key),
  }))
}

function own(container: Container, key: string): Json | undefined {
  return Object.hasOwn(container, key) ? Reflect.get(container, key) : undefined
}
