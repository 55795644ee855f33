import { isObject } from '../event/json.ts'
import type { Draft, Recorded, RunEvent } from '../event/run-event.ts'
import type { Frame } from '../frame/frame.ts'
import type { Dialect } from './dialect.ts'

/** The log itself on a wire: one `Recorded` a frame, nothing lost, seq and all. What our own clients speak. */
export const millrace: Dialect = {
  name: 'millrace',
  decoder: ({ run }) => ({
    session: undefined,
    push: (frame) => (frame.data === '' ? [] : [draftOf(frame, run)]),
    end: () => [],
  }),
  encoder: () => ({
    push: (recorded) => [{ data: printRecorded(recorded) }],
    prelude: () => [],
  }),
}

/** The JSON of a row; stores that keep the event as text build the same line without parsing it. */
export function printRecorded({ seq, at, run, event }: Recorded): string {
  return `{"seq":${seq},"at":${at},"run":${JSON.stringify(run)},"event":${JSON.stringify(event)}}`
}

function draftOf(frame: Frame, run: string): Draft {
  const row = parse(frame.data)
  if (!isObject(row)) return foreign(frame, run, 'not a JSON object')
  const { seq, at, event } = row
  if (typeof seq !== 'number' || typeof at !== 'number' || typeof row.run !== 'string') {
    return foreign(frame, run, 'seq, at or run is missing')
  }
  if (!isObject(event) || typeof event.kind !== 'string') return foreign(frame, run, 'event is missing')
  return { seq, at, run: row.run, event: event as unknown as RunEvent }
}

function foreign(frame: Frame, run: string, reason: string): Draft {
  return { run, event: { kind: 'foreign', dialect: 'millrace', raw: frame.data, reason } }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
