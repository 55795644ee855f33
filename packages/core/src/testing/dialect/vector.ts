import type { Draft, RunEvent } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { printFrame } from '../../frame/sse.ts'
import { defined } from '../../json/defined.ts'

/** A dialect's case as data: what is on the wire, which events it means, and what printing them gives back. */
export interface DialectVector {
  readonly name: string
  readonly note: string
  readonly run: string
  readonly agent?: string
  /** The session id that the wire names; absent where it names none. */
  readonly session?: string
  readonly wire: readonly Frame[]
  /** Text after the last frame: half a frame, where the case is about a stream that was cut inside one. */
  readonly tail: string
  /** How the bytes end: `closed` unless the case is about a cut stream. */
  readonly end: 'closed' | 'cut'
  readonly drafts: readonly Draft[]
  /** What does not come back as it came, and why. Then `encoded` is what is printed instead of `wire`. */
  readonly lossy?: readonly string[]
  readonly encoded: readonly Frame[]
}

/** The same case as a person writes it in a JSON file. */
export interface DialectVectorFile {
  readonly note: string
  readonly run: string
  readonly agent?: string
  readonly session?: string
  readonly wire: readonly WrittenFrame[]
  readonly tail?: string
  readonly end?: 'closed' | 'cut'
  /** Events of `run`, or drafts that name their own run. */
  readonly events: readonly (RunEvent | Draft)[]
  readonly lossy?: readonly string[]
  readonly encoded?: readonly WrittenFrame[]
}

/** `data` may be written as JSON instead of text: easier to read, and printed by JSON.stringify. */
export interface WrittenFrame {
  readonly event?: string
  readonly comment?: string
  readonly data?: unknown
}

export function dialectVector(name: string, file: DialectVectorFile): DialectVector {
  const wire = file.wire.map(writtenFrame)
  return {
    name,
    note: file.note,
    run: file.run,
    wire,
    tail: file.tail ?? '',
    end: file.end ?? 'closed',
    drafts: file.events.map((event) => ('kind' in event ? { run: file.run, event } : event)),
    encoded: file.encoded?.map(writtenFrame) ?? wire,
    ...defined({ agent: file.agent, session: file.session, lossy: file.lossy }),
  }
}

/** The frame that `WrittenFrame` describes. */
export function writtenFrame({ event, comment, data = '' }: WrittenFrame): Frame {
  return { ...defined({ event, comment }), data: typeof data === 'string' ? data : JSON.stringify(data) }
}

/** The text of a stream as a server would send it. */
export function wireText(frames: readonly Frame[], newline: '\n' | '\r\n' | '\r' = '\n'): string {
  return frames.map(printFrame).join('').replaceAll('\n', newline)
}
