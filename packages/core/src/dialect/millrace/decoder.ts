import { parseRecorded } from '../../event/guard.ts'
import type { Draft } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import type { Decoder, DecoderOptions } from '../dialect.ts'

export function millraceDecoder({ run }: DecoderOptions): Decoder {
  return {
    session: undefined,
    push: (frame) => (frame.data === '' ? [] : [draftOf(frame, run)]),
    end: () => [],
  }
}

/** A row off the wire is checked like one from a disk, because a client's views rely on its shape (SPEC 1.6). */
function draftOf(frame: Frame, run: string): Draft {
  const parsed = frame.truncated === true ? { reason: 'the frame is too long' } : parseRecorded(frame.data)
  if ('recorded' in parsed) return parsed.recorded
  return { run, event: { kind: 'foreign', dialect: 'millrace', raw: frame.data, reason: parsed.reason } }
}
