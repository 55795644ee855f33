import type { Recorded } from '../../event/run-event.ts'

/** The JSON of a row. */
export function printRecorded({ seq, at, run, event }: Recorded): string {
  return printRow(seq, at, run, JSON.stringify(event))
}

/** The same from the event's stored text, which is not parsed. */
export function printRow(seq: number, at: number, run: string, event: string): string {
  return `{"seq":${seq},"at":${at},"run":${JSON.stringify(run)},"event":${event}}`
}
