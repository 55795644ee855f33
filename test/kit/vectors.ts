import { readdirSync, readFileSync } from 'node:fs'
import type { Draft, Frame, RunEvent } from '@millrace/core'
import { printFrame } from '@millrace/core'

/** A conformance case as data: what is on the wire, which events it means, and what printing them gives back. */
export interface Vector {
  readonly name: string
  readonly note: string
  readonly run: string
  readonly agent?: string
  /** The session id the wire names; 's' where it names none. */
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

interface VectorFile {
  readonly note: string
  readonly run: string
  readonly agent?: string
  readonly session?: string
  readonly wire: readonly WireFrame[]
  readonly tail?: string
  readonly end?: 'closed' | 'cut'
  readonly events: readonly (RunEvent | Draft)[]
  readonly lossy?: readonly string[]
  readonly encoded?: readonly WireFrame[]
}
/** `data` may be written as JSON instead of text: easier to read, and printed by JSON.stringify. */
interface WireFrame {
  readonly event?: string
  readonly comment?: string
  readonly data?: unknown
}

export function loadVectors(dialect: string): readonly Vector[] {
  const folder = new URL(`../../vectors/${dialect}/`, import.meta.url)
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => {
      const vector = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as VectorFile
      const wire = vector.wire.map(frameOf)
      return {
        name: file.replace('.json', ''),
        note: vector.note,
        run: vector.run,
        ...(vector.agent === undefined ? {} : { agent: vector.agent }),
        ...(vector.session === undefined ? {} : { session: vector.session }),
        wire,
        tail: vector.tail ?? '',
        end: vector.end ?? 'closed',
        drafts: vector.events.map((event) => ('kind' in event ? { run: vector.run, event } : event)),
        ...(vector.lossy === undefined ? {} : { lossy: vector.lossy }),
        encoded: vector.encoded?.map(frameOf) ?? wire,
      }
    })
}

function frameOf({ event, comment, data = '' }: WireFrame): Frame {
  return {
    ...(event === undefined ? {} : { event }),
    ...(comment === undefined ? {} : { comment }),
    data: typeof data === 'string' ? data : JSON.stringify(data),
  }
}

/** The bytes of a stream as a server would send them. */
export function wireText(frames: readonly Frame[], newline: '\n' | '\r\n' | '\r' = '\n'): string {
  return frames.map(printFrame).join('').replaceAll('\n', newline)
}
