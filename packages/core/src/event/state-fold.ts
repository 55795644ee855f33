import { isJsonObject, isObject, type Json, type JsonObject, type PatchOp } from '../json/json.ts'
import { PathError, patched } from '../json/patch.ts'
import { copyObject, setKey } from '../json/wide-object.ts'
import type { RunEvent } from './run-event.ts'
import { isPartial } from './streaming.ts'

/** Why a patch was refused. RFC 6902 section 5: if one operation fails, the whole patch does. */
export interface StateProblem {
  /** Which operation of the patch. */
  readonly op: number
  readonly path: string
  readonly reason: string
}

/** ADK keeps these for one invocation only: they never enter a session's state. */
const temporary = 'temp:'

/**
 * The one fold of state (SPEC 1.3): `actions.stateDelta` of whole ADK events, `state` patches, and the client state a
 * run starts with. Returns the same reference when nothing changed, shares what did not change, never throws. A change of
 * one key costs the key, however many there are.
 * Partials do not count, as in ADK's own session services: they may be pruned, which must not change the state.
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
      return isPartial(event.event) ? state : mergeState(state, event.event.actions?.stateDelta)
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
  if (changed.length === 0) return state
  const next = copyObject(state)
  for (const [key, value] of changed) setKey(next, key, value)
  return next
}

/**
 * RFC 6902, persistent: the containers on an operation's path are copied once per patch, the rest is shared.
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

function reasonOf(error: unknown): string {
  return error instanceof PathError ? error.message : 'the patch does not apply'
}
