import type { Foreign } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { printFrame, sseReader } from '../../frame/sse.ts'

/**
 * A frame that could not be read, for dialects whose event line carries part of the meaning. The raw text is the whole
 * frame without its `id`, so that it can be printed again as it came (SPEC 3.3).
 */
export function foreignFrame(dialect: string, { event, data }: Frame, reason: string): Foreign {
  const raw = printFrame({ ...(event === undefined ? {} : { event }), data }).slice(0, -2)
  return { kind: 'foreign', dialect, raw, reason }
}

export function printForeignFrame({ raw }: Foreign): Frame {
  return sseReader().feed(`${raw}\n\n`)[0] ?? { data: raw }
}
