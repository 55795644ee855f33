import type { Extra, RunEvent } from '../event/run-event.ts'
import { isJsonObject, isObject, type Json, type JsonObject } from '../json/json.ts'

// What a decoder keeps of a frame for the encoder of the same dialect, in the event's `extra`: what has no canonical
// place, so that the frame can be printed again as it came.

/** `{ extra }` to be spread into an event, or nothing when there is nothing to keep. */
export function keepFor(
  dialect: string,
  notes: Readonly<Record<string, Json | undefined>>,
): { readonly extra?: Extra } {
  const entries = Object.entries(notes).filter((entry): entry is [string, Json] => entry[1] !== undefined)
  return entries.length === 0 ? {} : { extra: { [dialect]: Object.fromEntries(entries) } }
}

/** What was kept for this dialect. The log may come from anywhere, so nothing is taken for granted. */
export function keptFor(dialect: string, extra: unknown): JsonObject {
  const notes = isObject(extra) ? extra[dialect] : undefined
  return isObject(notes) ? (notes as JsonObject) : nothing
}
const nothing: JsonObject = {}

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
  const rest = Object.entries(payload).filter(([key]) => !known.has(key))
  const last = events.at(-1)
  if (rest.length === 0 || last === undefined) return events
  const notes = { ...keptFor(dialect, last.extra), fields: Object.fromEntries(rest) }
  return events.with(-1, { ...last, extra: { ...last.extra, [dialect]: notes } })
}

export function keptFields(extra: Extra | undefined, dialect: string): JsonObject {
  const { fields } = keptFor(dialect, extra)
  return isJsonObject(fields) ? fields : nothing
}
