import { parseRecorded } from '../../event/guard.ts'
import type { Draft, Recorded } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import type { Dialect } from '../dialect.ts'

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
  printRaw: ({ seq, at, run, body }) => line(seq, at, run, body),
}

/** The JSON of a row. */
export function printRecorded({ seq, at, run, event }: Recorded): string {
  return line(seq, at, run, JSON.stringify(event))
}

function line(seq: number, at: number, run: string, event: string): string {
  return `{"seq":${seq},"at":${at},"run":${JSON.stringify(run)},"event":${event}}`
}

/** A row is checked like one from a disk: what a client folds must be what the views expect (SPEC 1.6). */
function draftOf(frame: Frame, run: string): Draft {
  const parsed = frame.truncated === true ? { reason: 'longer than a frame may be' } : parseRecorded(frame.data)
  if ('recorded' in parsed) return parsed.recorded
  return { run, event: { kind: 'foreign', dialect: 'millrace', raw: frame.data, reason: parsed.reason } }
}
