import type { RunEvent } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { isJsonObject, isObject, type Json, type JsonObject, type PatchOp } from '../../json/json.ts'
import { Fault, faultAt } from '../../schema/fault.ts'
import { data, type FieldReader, list, notObject } from '../../schema/readers.ts'
import { keptFor } from '../kept-fields.ts'

/** One AG-UI event as JSON. A field that is undefined is not printed. */
export interface AgUiEvent {
  readonly type: string
  readonly [field: string]: Json | undefined
}

/** A conversation message as AG-UI clients have it. A type alias, because the compiler takes no interface for JSON. */
export type AgUiMessage = {
  id: string
  role: string
  content?: Json
  toolCalls?: AgUiToolCall[]
  name?: string
  toolCallId?: string
  subagentRunId?: string
  encryptedValue?: string
  metadata?: JsonObject
  activityType?: string
}
export type AgUiToolCall = {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
  encryptedValue?: string
  metadata?: JsonObject
}

/** RFC 6901; the official schema refuses anything else, and its client then ends the run. */
const pointer: FieldReader<string> = (value) =>
  typeof value === 'string' && /^(?:\/(?:[^/~]|~[01])*)*$/.test(value) ? value : notPointer
const notPointer = faultAt('', 'must be a JSON Pointer')

/** One RFC 6902 operation. Members that the operation does not define are ignored, as the RFC asks. */
const patchOp: FieldReader<PatchOp> = (value, strict) => {
  if (!isObject(value)) return notObject
  const path = pointer(value.path, strict)
  if (path instanceof Fault) return path.under('.path')
  switch (value.op) {
    case 'add':
    case 'replace':
    case 'test': {
      const given = data(value.value, strict)
      return given instanceof Fault ? given.under('.value') : { op: value.op, path, value: given }
    }
    case 'remove':
      return { op: value.op, path }
    case 'move':
    case 'copy': {
      const from = pointer(value.from, strict)
      return from instanceof Fault ? from.under('.from') : { op: value.op, from, path }
    }
    default:
      return faultAt('.op', 'must be add, remove, replace, move, copy or test')
  }
}
export const patchOps: FieldReader<readonly PatchOp[]> = list(patchOp)

/** What the decoder kept of a frame beside the canonical facts. */
export function keptOf({ extra }: RunEvent): JsonObject {
  return keptFor('ag-ui', extra)
}

/** The fields of the frame that have no canonical place, to be printed again as they came. */
export function restOf(kept: JsonObject): JsonObject | undefined {
  if (!isJsonObject(kept.rest)) return undefined
  const { type: _, subagentRunId: __, ...rest } = kept.rest
  return rest
}

/** The JSON of any value. JSON.stringify throws on deep nesting, which an encoder must not (SPEC 3.1). */
export function print(value: Json | AgUiEvent | undefined): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return '"[nested too deeply]"'
  }
}

/** No other wire has types in capitals, with an underscore: `RUN_STARTED`. */
export function isAgUiFrame(_: Frame, value: JsonObject | undefined): boolean {
  return typeof value?.type === 'string' && /^[A-Z]+(_[A-Z]+)+$/.test(value.type)
}
