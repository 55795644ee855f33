import { isRunEvent } from '../../event/guard.ts'
import type { Logged, RunEvent, RunEventKind } from '../../event/run-event.ts'
import { isJsonObject, type Json, type JsonObject, type PatchOp } from '../../json/json.ts'
import { pointerSegment } from '../../json/pointer.ts'
import { Fault } from '../../schema/fault.ts'
import type { AgUiDocument } from './document.ts'
import { tagged } from './encode/writer.ts'
import { type AgUiEvent, patchOps, restOf } from './wire.ts'

const prefix = 'millrace.'
/** Events that AG-UI has no form for. Each is printed as a CUSTOM event with a stable name, and read back from it. */
const kinds: ReadonlySet<string> = new Set<RunEventKind>([
  'tasks',
  'tasks.changed',
  'task.started',
  'task.finished',
  'task.reflected',
  'artifact',
  'data',
  'superseded',
  'state',
  'resumed',
  'log',
  'foreign',
])

/** `CUSTOM { name: "millrace.task.started", value: { task } }` */
export function printFact(event: RunEvent): AgUiEvent {
  const { kind, extra: _, ...value } = event
  return { type: 'CUSTOM', name: prefix + kind, value: value as unknown as JsonObject }
}

export function readFact(name: string, value: Json): RunEvent | undefined {
  const kind = name.slice(prefix.length)
  if (!name.startsWith(prefix) || !kinds.has(kind) || !isJsonObject(value)) return undefined
  const event: unknown = { ...value, kind }
  return isRunEvent(event) ? event : undefined
}

/** A log record that was read from another AG-UI event, as that event. Undefined for any other log record. */
export function agUiLog(
  { message, data }: Logged,
  kept: JsonObject,
  tag: string | undefined,
  document: AgUiDocument,
): AgUiEvent | undefined {
  const { type, messageId, replace, source } = kept
  const more = { ...tagged(tag), ...restOf(kept) }
  if (type === 'CUSTOM') return { type, name: message, value: data ?? null, ...more }
  if (type === 'RAW') {
    return { type, event: data ?? null, ...(typeof source === 'string' ? { source } : {}), ...more }
  }
  if (typeof messageId !== 'string') return undefined
  if (type === 'ACTIVITY_SNAPSHOT' && isJsonObject(data)) {
    const kind = { messageId, activityType: message, content: data }
    return { type, ...kind, ...(typeof replace === 'boolean' ? { replace } : {}), ...more }
  }
  if (type !== 'ACTIVITY_DELTA' || !Array.isArray(data)) return undefined
  // A delta with another owner than its activity would make the client end the run.
  const owner = document.message(messageId)
  const strays = owner !== undefined && owner.subagentRunId !== tag
  const own = strays ? restOf(kept) : more
  return { type, messageId, activityType: message, patch: data, ...own }
}

/** A patch of the root is a snapshot, any other a delta. Undefined when the official schema would refuse it. */
export function printPatch(patch: readonly PatchOp[], rest: JsonObject): AgUiEvent | undefined {
  const [first, second] = patch
  if (first !== undefined && second === undefined && first.path === '' && 'value' in first && first.op !== 'test') {
    return { type: 'STATE_SNAPSHOT', snapshot: first.value, ...rest }
  }
  const delta = patchOps(patch, false)
  return delta instanceof Fault ? undefined : { type: 'STATE_DELTA', delta: delta.map((op) => ({ ...op })), ...rest }
}

/** The patch from one state to the next, for the keys that an ADK event names. */
export function deltaOf(before: JsonObject, after: JsonObject, delta: JsonObject | undefined): readonly JsonObject[] {
  return Object.keys(delta ?? {}).flatMap((key): JsonObject[] => {
    const path = pointerSegment(key)
    const value = after[key]
    if (value === undefined) return Object.hasOwn(before, key) ? [{ op: 'remove', path }] : []
    if (!Object.hasOwn(before, key)) return [{ op: 'add', path, value }]
    return before[key] === value ? [] : [{ op: 'replace', path, value }]
  })
}
