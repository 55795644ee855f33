import { isJsonObject, type Json, type JsonObject, type PatchOp } from '../../json/json.ts'
import { pointerSegment } from '../../json/pointer.ts'

/** The schema cuts a snapshot below level 3, where the state object itself is level 1. */
const maxLevel = 3

/**
 * A state as a snapshot shows it. A container below level 3 is printed as the string `{…n}` or `[…n]`, n the number of
 * its entries, so that a person sees that there is something, and a reader that knows the value keeps it.
 */
export function cutState(state: JsonObject): Json {
  return cut(state, 1)
}

function cut(value: Json, level: number): Json {
  if (value === null || typeof value !== 'object') return value
  if (level > maxLevel) return marker(value)
  if (isArray(value)) return value.map((item) => cut(item, level + 1))
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cut(item, level + 1)]))
}

function marker(value: object): string {
  return Array.isArray(value) ? `[…${value.length}]` : `{…${Object.keys(value).length}}`
}

/**
 * The patch that makes `before` show what a snapshot shows: by top-level key, equal values untouched, cut ones kept.
 * A key of `removable` that the snapshot does not have was removed.
 */
export function changesTo(before: JsonObject, snapshot: JsonObject, removable: JsonObject): PatchOp[] {
  const patch: PatchOp[] = []
  for (const [key, shown] of entriesOf(snapshot)) {
    const known = Object.hasOwn(before, key)
    const value = known ? restored(shown, before[key] ?? null, 2) : shown
    if (!known) patch.push({ op: 'add', path: pointerSegment(key), value })
    else if (value !== before[key]) patch.push({ op: 'replace', path: pointerSegment(key), value })
  }
  for (const [key] of entriesOf(removable)) {
    if (Object.hasOwn(before, key) && !Object.hasOwn(snapshot, key))
      patch.push({ op: 'remove', path: pointerSegment(key) })
  }
  return patch
}

/**
 * The patch of a `state` trace: every key it names, so that the same keys are named when it is printed again. A value
 * that was written again is a copy, because views take a value of the same reference for one that nobody wrote.
 */
export function updateOf(before: JsonObject, update: JsonObject): PatchOp[] {
  return entriesOf(update).map(([key, shown]) => {
    if (!Object.hasOwn(before, key)) return { op: 'add', path: pointerSegment(key), value: shown }
    const value = restored(shown, before[key] ?? null, 2)
    return { op: 'add', path: pointerSegment(key), value: value === before[key] ? copyOf(value) : value }
  })
}

function copyOf(value: Json): Json {
  if (isArray(value)) return [...value]
  return isJsonObject(value) ? { ...value } : value
}

/** The top-level keys a patch touched; undefined for the whole state. */
export function touchedKeys(patch: readonly PatchOp[]): readonly string[] | undefined {
  const keys = new Set<string>()
  for (const op of patch) {
    if (op.op === 'test') continue
    for (const path of op.op === 'move' ? [op.from, op.path] : [op.path]) {
      const key = path.split('/')[1]
      if (key === undefined) return undefined
      keys.add(key.replaceAll('~1', '/').replaceAll('~0', '~'))
    }
  }
  return [...keys]
}

/** A value of a snapshot with its cut parts restored; the same reference as before when the value is the same. */
function restored(shown: Json, before: Json, level: number): Json {
  if (shown === before) return before
  if (before === null || typeof before !== 'object') return shown
  if (typeof shown === 'string') return level > maxLevel && shown === marker(before) ? before : shown
  if (shown === null || typeof shown !== 'object') return shown
  if (isArray(shown)) {
    if (!isArray(before)) return shown
    const items = shown.map((item, i) => restored(item, before[i] ?? null, level + 1))
    return items.length === before.length && items.every((item, i) => item === before[i]) ? before : items
  }
  if (!isJsonObject(before)) return shown
  const entries = Object.entries(shown).map(([key, item]): [string, Json] => [
    key,
    Object.hasOwn(before, key) ? restored(item, before[key] ?? null, level + 1) : item,
  ])
  const equal = entries.every(([key, item]) => Object.hasOwn(before, key) && item === before[key])
  return equal && entries.length === Object.keys(before).length ? before : Object.fromEntries(entries)
}

/** Without `__proto__`: no JSON Patch may touch it, and one refused operation would refuse the whole patch. */
function entriesOf(state: JsonObject): [string, Json][] {
  return Object.entries(state).filter(([key]) => key !== '__proto__')
}

function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
