import type { Extra, RunEvent } from '../../event/run-event.ts'
import { isJsonObject, type JsonObject } from '../../json/json.ts'

/**
 * Fields of a newer or chattier server that have no canonical place go along with the event that their frame became
 * (the last one), and are printed again behind the known ones.
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
  const own = { ...last.extra?.[dialect], fields: Object.fromEntries(rest) }
  return events.with(-1, { ...last, extra: { ...last.extra, [dialect]: own } })
}

export function keptFields(extra: Extra | undefined, dialect: string): JsonObject {
  const fields = extra?.[dialect]?.fields
  return isJsonObject(fields) ? fields : {}
}
