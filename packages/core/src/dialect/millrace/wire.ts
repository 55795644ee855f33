import type { Recorded } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { isJsonObject, type JsonObject } from '../../json/json.ts'

/** The JSON of a row. */
export function printRecorded({ seq, at, run, event }: Recorded): string {
  return printRow(seq, at, run, JSON.stringify(event))
}

/** The JSON of a row from the stored text of its event, which is not parsed. */
export function printRow(seq: number, at: number, run: string, event: string): string {
  return `{"seq":${seq},"at":${at},"run":${JSON.stringify(run)},"event":${event}}`
}

/** A row of a log, or the first line of a session export. */
export function isMillraceFrame(_: Frame, value: JsonObject = {}): boolean {
  const { format, seq, at, run, event } = value
  if (format === 'millrace.session') return true
  return typeof seq === 'number' && typeof at === 'number' && typeof run === 'string' && isJsonObject(event)
}
