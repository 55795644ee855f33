import type { Extra, RunEvent } from '../event/run-event.ts'
import { isJsonObject, isObject, type Json, type JsonObject } from '../json/json.ts'

// What a decoder keeps of a frame for the encoder of the same dialect, in the event's `extra`: what has no canonical
// place, so that the frame can be printed again as it came.

/** `{ extra }` to be spread into an event, or nothing when there is nothing to keep. */
export function keepFor(
  dialect: string,
  notes: Readonly<Record<string, Json | undefined>>,
): { readonly extra?: Extra } {
  let kept: Record<string, Json> | undefined
  for (const key in notes) {
    const note = notes[key]
    if (note === undefined) continue
    kept ??= {}
    kept[key] = note
  }
  return kept === undefined ? {} : { extra: { [dialect]: kept } }
}

/** What was kept for this dialect. The log may come from anywhere, so nothing is taken for granted. */
export function keptFor(dialect: string, extra: unknown): JsonObject {
  const notes = isObject(extra) ? extra[dialect] : undefined
  return isObject(notes) ? (notes as JsonObject) : noFields
}
export const noFields: JsonObject = {}

/**
 * Keeps the fields of a frame that are not `known`, with the last event that the frame became. The encoder prints them
 * behind the known ones.
 */
export function keepFields(
  dialect: string,
  events: readonly RunEvent[],
  payload: JsonObject,
  known: ReadonlySet<string>,
): readonly RunEvent[] {
  if (hasOnly(payload, known)) return events
  const rest = Object.entries(payload).filter(([key]) => !known.has(key))
  const last = events.at(-1)
  if (last === undefined) return events
  const notes = { ...keptFor(dialect, last.extra), fields: Object.fromEntries(rest) }
  return events.with(-1, { ...last, extra: { ...last.extra, [dialect]: notes } })
}

/** Nearly every frame has no other fields, so this is asked first: it makes no list. */
function hasOnly(payload: JsonObject, known: ReadonlySet<string>): boolean {
  for (const key in payload) if (!known.has(key)) return false
  return true
}

export function keptFields(extra: Extra | undefined, dialect: string): JsonObject {
  if (extra === undefined) return noFields
  const { fields } = keptFor(dialect, extra)
  return isJsonObject(fields) ? fields : noFields
}
