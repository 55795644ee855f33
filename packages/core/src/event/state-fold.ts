import jsonPatch from 'fast-json-patch'
import { isJsonObject, isObject, type Json, type JsonObject, maxJsonDepth, type PatchOp } from './json.ts'
import { measure } from './measure.ts'
import type { RunEvent } from './run-event.ts'

/** A state change that could not be made: the whole patch is refused, as RFC 6902 section 5 asks, and said here. */
export interface StateProblem {
  /** Which operation of the patch. */
  readonly op: number
  readonly path: string
  readonly reason: string
}

/** Copies end here: about what one frame can carry. */
const largest = 16 * 1024 * 1024

/** ADK keeps these for one invocation only: they never enter a session's state. */
const temporary = 'temp:'

/**
 * The one fold of state (SPEC 1.6): `actions.stateDelta` of whole ADK events, `state` patches, and the client state a
 * run starts with. Returns the same reference when nothing changed, shares what did not change, never throws.
 * Partials do not count, as in ADK's own session services: they may be pruned, and the state must not change by that.
 */
export function applyState(
  state: JsonObject,
  event: RunEvent,
  report: (problem: StateProblem) => void = () => {},
): JsonObject {
  switch (event.kind) {
    case 'run.started':
      return mergeState(state, event.input.state)
    case 'agent':
      return event.event.partial === true ? state : mergeState(state, event.event.actions?.stateDelta)
    case 'state':
      return patchState(state, event.patch, report)
    default:
      return state
  }
}

/** ADK's rule for a delta: each top-level key replaces, `null` is a value, `temp:` keys are left out. */
function mergeState(state: JsonObject, delta: JsonObject | undefined): JsonObject {
  if (!isObject(delta)) return state
  const changed = Object.entries(delta).filter(
    ([key, value]) => !key.startsWith(temporary) && !(Object.hasOwn(state, key) && state[key] === value),
  )
  return changed.length === 0 ? state : { ...state, ...Object.fromEntries(changed) }
}

/**
 * RFC 6902 by fast-json-patch, made persistent: the containers on an operation's path are copied once per patch, the
 * rest is shared. The library's own non-mutating mode copies the whole document for every patch.
 */
export function patchState(
  state: JsonObject,
  patch: readonly PatchOp[],
  report: (problem: StateProblem) => void = () => {},
): JsonObject {
  const own = new Set<object>()
  let next: Json = state
  for (const [index, op] of patch.entries()) {
    try {
      next = patched(next, op, own)
    } catch (error) {
      report({ op: index, path: op.path, reason: reasonOf(error) })
      return state
    }
  }
  if (next === null) return {}
  if (isJsonObject(next)) return next
  report({ op: patch.length - 1, path: '', reason: 'the state must be an object' })
  return state
}

function patched(document: Json, op: PatchOp, own: Set<object>): Json {
  switch (op.op) {
    case 'copy': {
      const value = valueAt(document, op.from)
      // Forty copies of a list into itself are a terabyte: the only operation that makes much out of little.
      if (measure(document, own).size + measure(value, own).size > largest)
        throw new PathError('the state grows too large')
      // From here on the copied containers stand in two places: none of them may be written in place any more.
      own.clear()
      return patched(document, { op: 'add', path: op.path, value }, own)
    }
    case 'move': {
      if (op.path.startsWith(`${op.from}/`)) throw new PathError('a value cannot move into itself')
      const value = valueAt(document, op.from)
      if (op.path === op.from) return document
      return patched(patched(document, { op: 'remove', path: op.from }, own), { op: 'add', path: op.path, value }, own)
    }
    case 'test':
      return jsonPatch.applyOperation(document, op, true).newDocument
    default: {
      const keys = keysOf(op.path)
      if ('value' in op && keys.length + measure(op.value, own).depth > maxJsonDepth) {
        throw new PathError(`nested deeper than ${maxJsonDepth}`)
      }
      const copied = copyPath(document, keys.slice(0, -1), own)
      return jsonPatch.applyOperation(copied, op, true).newDocument
    }
  }
}

/** Copies the containers from the root along `keys`, each once per patch; stops where the path does (the op then fails). */
function copyPath(document: Json, keys: readonly string[], own: Set<object>): Json {
  const root = copy(document, own)
  let parent: Json = root
  for (const key of keys) {
    if (parent === null || typeof parent !== 'object' || !Object.hasOwn(parent, key)) break
    const child: Json = copy(Reflect.get(parent, key), own)
    Reflect.set(parent, key, child)
    parent = child
  }
  return root
}

function copy(value: Json, own: Set<object>): Json {
  if (value === null || typeof value !== 'object' || own.has(value)) return value
  const made = Array.isArray(value) ? [...value] : { ...value }
  own.add(made)
  return made
}

function valueAt(document: Json, path: string): Json {
  let value = document
  for (const key of keysOf(path)) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) {
      throw new PathError('nothing at the path to take from')
    }
    value = Reflect.get(value, key)
  }
  return value
}

function keysOf(path: string): string[] {
  return path === '' ? [] : path.split('/').slice(1).map(jsonPatch.unescapePathComponent)
}

class PathError extends Error {}

/** The library's messages carry the document on further lines: the first line is the sentence. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'the patch does not apply'
}
