import { isJsonObject, type Json, maxJsonDepth, type PatchOp, sameJson } from './json.ts'
import { measure } from './measure.ts'
import { pointerKeys } from './pointer.ts'
import { copyList, copyObject, deleteKey, setKey } from './wide-object.ts'

/** Why an operation cannot be applied. */
export class PathError extends Error {}

/** A `copy` may not make the document larger than this, about the size of one frame (SPEC 1.7). */
const largest = 16 * 1024 * 1024

/**
 * One operation of RFC 6902. Containers in `own` were made by this patch and are written in place; all others are
 * copied when they lie on the path. The libraries copy the whole document or write into the caller's, and would add a
 * fifth to a chat bundle (5 of 25 kB); a property test compares this with fast-json-patch (docs/decisions/004-own-json-patch.md).
 */
export function patched(document: Json, op: PatchOp, own: Set<object>): Json {
  switch (op.op) {
    case 'copy': {
      const value = valueAt(document, keysOf(op.from))
      // Forty copies of a list into itself are a terabyte: `copy` alone can make a large state from a small patch.
      if (measure(document, own).size + measure(value, own).size > largest)
        throw new PathError('the state grows too large')
      // The copied containers now occur in two places: none of them may be written in place any more.
      own.clear()
      return written(document, { op: 'add', path: op.path, value }, own, measure(value, own).depth)
    }
    case 'move': {
      if (op.path.startsWith(`${op.from}/`)) throw new PathError('a value cannot move into itself')
      const value = valueAt(document, keysOf(op.from))
      if (op.path === op.from) return document
      const { depth } = measure(value, own)
      return written(
        patched(document, { op: 'remove', path: op.from }, own),
        { op: 'add', path: op.path, value },
        own,
        depth,
      )
    }
    case 'test':
      if (!sameJson(valueAt(document, keysOf(op.path)), op.value)) throw new PathError('the test failed')
      return document
    case 'remove':
      return written(document, { op: op.op, path: op.path }, own, 0)
    default:
      return written(document, { op: op.op, path: op.path, value: op.value }, own, depthOf(op.value))
  }
}

type Write =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }

function written(document: Json, op: Write, own: Set<object>, depth: number): Json {
  const keys = keysOf(op.path)
  if (op.op !== 'remove') {
    if (op.value === undefined) throw new PathError('there is no value')
    if (keys.length + depth > maxJsonDepth) throw new PathError(`nested deeper than ${maxJsonDepth}`)
  }
  const last = keys.pop()
  if (last === undefined) return op.op === 'remove' ? null : op.value
  const root = copyPath(document, keys, own)
  const parent = valueAt(root, keys)
  if (Array.isArray(parent)) {
    const index = indexOf(last, parent, op.op)
    if (op.op === 'replace') parent[index] = op.value
    else if (op.op === 'add') parent.splice(index, 0, op.value)
    else parent.splice(index, 1)
  } else if (isJsonObject(parent)) {
    if (last === '__proto__') throw new PathError('__proto__ is no key of a patch')
    if (op.op !== 'add' && !Object.hasOwn(parent, last)) throw new PathError('nothing at the path')
    if (op.op === 'remove') deleteKey(parent, last)
    else setKey(parent, last, op.value)
  } else throw new PathError('the parent is no object or list')
  return root
}

/** How deep a value from an event is; counted only, because such a value may have many parts and is not seen again. */
function depthOf(value: Json | undefined, level = 0): number {
  if (typeof value !== 'object' || value === null || level > maxJsonDepth) return 0
  let deepest = 0
  if (Array.isArray(value)) for (const item of value) deepest = Math.max(deepest, depthOf(item, level + 1))
  else for (const key of Object.keys(value)) deepest = Math.max(deepest, depthOf(Reflect.get(value, key), level + 1))
  return deepest + 1
}

function indexOf(key: string, list: readonly unknown[], op: Write['op']): number {
  if (key === '-' && op === 'add') return list.length
  if (!/^(0|[1-9]\d*)$/.test(key)) throw new PathError('no index of a list')
  if (Number(key) >= list.length + (op === 'add' ? 1 : 0)) throw new PathError('the index is beyond the list')
  return Number(key)
}

/** Copies the containers from the root along `keys`, each once per patch; stops where the path does (the op then fails). */
function copyPath(document: Json, keys: readonly string[], own: Set<object>): Json {
  const root = copy(document, own)
  let parent: Json = root
  for (const key of keys) {
    if (parent === null || typeof parent !== 'object' || !Object.hasOwn(parent, key)) break
    const child: Json = copy(Reflect.get(parent, key), own)
    if (isJsonObject(parent)) setKey(parent, key, child)
    else Reflect.set(parent, key, child)
    parent = child
  }
  return root
}

function copy(value: Json, own: Set<object>): Json {
  if (value === null || typeof value !== 'object' || own.has(value)) return value
  const made = isJsonObject(value) ? copyObject(value) : copyList(value)
  own.add(made)
  return made
}

function valueAt(document: Json, keys: readonly string[]): Json {
  let value = document
  for (const key of keys) {
    const there = Array.isArray(value) ? /^(0|[1-9]\d*)$/.test(key) && Number(key) < value.length : true
    if (value === null || typeof value !== 'object' || !there || !Object.hasOwn(value, key)) {
      throw new PathError('nothing at the path')
    }
    value = Reflect.get(value, key)
  }
  return value
}

function keysOf(path: string): string[] {
  if (path !== '' && !path.startsWith('/')) throw new PathError('a path begins with a slash')
  return pointerKeys(path)
}
