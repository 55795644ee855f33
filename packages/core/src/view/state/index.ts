import type { Recorded } from '../../event/run-event.ts'
import { applyState } from '../../event/state-fold.ts'
import { changedKeys } from '../../json/changed-keys.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import { pointerKeys } from '../../json/pointer.ts'
import { firstIndexWhere } from '../../persistent/search.ts'
import type { Sequence } from '../../persistent/sequence.ts'
import type { View } from '../view.ts'
import { diffState } from './diff.ts'
import { emptySessionState, type SessionState, type StateChange } from './state.ts'

/**
 * Between two checkpoints at most this many events are applied again. Keeping every version instead would keep a copy
 * of the top level per change: 80 MB for 10,000 changes of a state with 1,000 keys, against 2.5 MB.
 */
const every = 32

/** The state and its changes. Only the changes are stored; every earlier state is folded from them. */
export const stateView: View<SessionState> = {
  name: 'state',
  initial: emptySessionState,
  apply(before, row) {
    const current = applyState(before.current, row.event)
    if (current === before.current) return before
    const { past, changes } = before
    const checkpoint = changes.length % every === 0
    return {
      current,
      changes: changes.append(changeOf(row, before.current, current)),
      past: {
        ...past,
        events: past.events.append(row.event),
        checkpoints: checkpoint ? past.checkpoints.append(before.current) : past.checkpoints,
      },
    }
  },
}

/** The state after the event with this seq (and before the next): by checkpoint and at most 32 changes. */
export function stateAt(log: SessionState, seq: number): JsonObject {
  return stateAfter(log, changesUntil(log.changes, seq))
}

/** One change of one value. `before` and `after` are absent where there was nothing. */
export interface ValueChange extends Omit<StateChange, 'keys'> {
  readonly before?: Json
  readonly after?: Json
}

/** Every change of the value at a JSON Pointer (`/draft/title`), oldest first. */
export function valueHistory(log: SessionState, path: string): readonly ValueChange[] {
  const history: ValueChange[] = []
  let document: JsonObject = log.past.checkpoints.at(0) ?? {}
  let value = valueAt(document, path)
  const events = log.past.events.toArray()
  for (const [i, { keys: _keys, ...change }] of log.changes.toArray().entries()) {
    const event = events[i]
    if (event !== undefined) document = applyState(document, event)
    const next = valueAt(document, path)
    if (next === value || (next !== undefined && value !== undefined && same(value, next))) continue
    history.push({
      ...change,
      ...(value === undefined ? {} : { before: value }),
      ...(next === undefined ? {} : { after: next }),
    })
    value = next
  }
  return history
}

function stateAfter({ current, changes, past }: SessionState, count: number): JsonObject {
  if (count >= changes.length) return current
  const from = Math.floor(count / every)
  let document = past.checkpoints.at(from) ?? {}
  for (let i = from * every; i < count; i++) {
    const event = past.events.at(i)
    if (event !== undefined) document = applyState(document, event)
  }
  return document
}

/** How many changes have a seq up to this one. */
function changesUntil(changes: Sequence<StateChange>, seq: number): number {
  return firstIndexWhere(changes.length, (i) => (changes.at(i)?.seq ?? 0) > seq)
}

function changeOf({ seq, at, run, event }: Recorded, before: JsonObject, after: JsonObject): StateChange {
  const node = event.kind === 'agent' || event.kind === 'state' ? event.node : undefined
  return {
    seq,
    at,
    run,
    keys: changedKeys(before, after),
    ...(node === undefined ? {} : { node }),
    ...(event.kind === 'agent' ? { author: event.event.author } : {}),
  }
}

function valueAt(document: JsonObject, path: string): Json | undefined {
  let value: Json = document
  for (const key of pointerKeys(path)) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

function same(before: Json, after: Json): boolean {
  return diffState({ value: before }, { value: after }).length === 0
}
