import type { Change, Json, JsonObject, PatchOp, ToolCard } from '@millrace/core'
import { childPointer } from '../state/paths.ts'

/** What a person edits: one thing of one run, as it is in the log. */
export type ChangeTarget =
  | { readonly field: 'message'; readonly run: string; readonly text: string }
  | {
      readonly field: 'tool'
      readonly run: string
      readonly call: string
      readonly name: string
      readonly result: Json
    }
  | {
      readonly field: 'state'
      readonly run: string
      /** The state changes after this event. */
      readonly seq: number
      /** A JSON Pointer; '' is the whole state. */
      readonly path: string
      readonly value: Json
    }
  | {
      readonly field: 'prompt'
      readonly run: string
      readonly call: string
      readonly agent: string
      readonly system: string
      readonly contents: readonly Json[]
    }

export function resultTarget({ call, name, result = {} }: ToolCard, run: string): ChangeTarget {
  return { field: 'tool', run, call, name, result }
}

/** A field of the editor. */
export interface DraftField {
  readonly name: string
  readonly kind: 'words' | 'json'
  readonly text: string
}

export function fieldsOf(target: ChangeTarget): readonly DraftField[] {
  if (target.field === 'message') return [{ name: 'Message', kind: 'words', text: target.text }]
  if (target.field === 'tool') return [{ name: 'Result', kind: 'json', text: printed(target.result) }]
  if (target.field === 'state')
    return [{ name: target.path === '' ? 'State' : target.path.slice(1), kind: 'json', text: printed(target.value) }]
  return [
    { name: 'System', kind: 'words', text: target.system },
    { name: 'Contents', kind: 'json', text: printed(target.contents as unknown as Json) },
  ]
}

/** The change that the texts of the fields make, or why they make none. `same`: nothing differs from what the log has. */
export function changeFrom(
  target: ChangeTarget,
  texts: readonly string[],
): { readonly change: Change; readonly same: boolean } | { readonly problem: string } {
  const fields = fieldsOf(target)
  const values: Json[] = []
  for (const [i, { name, kind, text }] of fields.entries()) {
    const read = kind === 'words' ? { value: texts[i] ?? text } : parsed(texts[i] ?? text)
    if ('problem' in read) return { problem: `${name} is not JSON: ${read.problem}` }
    values.push(read.value)
  }
  const problem = problemOf(target, values)
  if (problem !== undefined) return { problem }
  const same = fields.every(({ kind, text }, i) =>
    kind === 'words' ? text === values[i] : printed(values[i] as Json) === text,
  )
  return { change: changeOf(target, values), same }
}

function changeOf(target: ChangeTarget, [first, second]: readonly Json[]): Change {
  const { field, run } = target
  if (field === 'message') return { field, run, text: String(first) }
  if (field === 'tool') return { field, run, call: target.call, result: first as JsonObject }
  if (field === 'state') {
    const { seq, path } = target
    const patch =
      path === '' ? keyPatch(target.value, first as JsonObject) : [{ op: 'add', path, value: first } as PatchOp]
    return { field, run, seq, patch }
  }
  const system = first === target.system ? {} : { system: String(first) }
  const isSame = printed(second as Json) === printed(target.contents as unknown as Json)
  return { field, run, call: target.call, ...system, ...(isSame ? {} : { contents: second as readonly Json[] }) }
}

/** The keys that differ, one by one: an engine with a state of its own writes keys. */
function keyPatch(before: Json, after: JsonObject): readonly PatchOp[] {
  const old = isRecord(before) ? (before as JsonObject) : {}
  const keys = [...new Set([...Object.keys(old), ...Object.keys(after)])]
  const patch = keys.flatMap((key): readonly PatchOp[] => {
    const path = childPointer('', key)
    const value = after[key]
    if (value === undefined) return [{ op: 'remove', path }]
    return JSON.stringify(value) === JSON.stringify(old[key]) ? [] : [{ op: 'add', path, value }]
  })
  return patch.length === 0 ? [{ op: 'replace', path: '', value: after }] : patch
}

function problemOf({ field, ...target }: ChangeTarget, [first, second]: readonly Json[]): string | undefined {
  if (field === 'message' && String(first).trim() === '') return 'The message is empty.'
  if (field === 'tool' && !isRecord(first)) return 'The result must be an object: { … }.'
  if (field === 'state' && 'path' in target && target.path === '' && !isRecord(first))
    return 'The state must be an object: { … }.'
  if (field === 'prompt' && !(Array.isArray(second) && second.length > 0 && second.every(isContent)))
    return 'Contents must be a list of objects with parts: [{ "role": "user", "parts": [{ "text": "…" }] }].'
  return undefined
}

function isContent(value: Json): boolean {
  return isRecord(value) && Array.isArray((value as JsonObject).parts)
}

function isRecord(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(text: string): { readonly value: Json } | { readonly problem: string } {
  try {
    return { value: JSON.parse(text) as Json }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

const printed = (value: Json): string => JSON.stringify(value, null, 2)
