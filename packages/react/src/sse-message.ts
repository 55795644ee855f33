import {
  type Frame,
  isJsonObject,
  type LegacyEvent,
  normalizeSseBlock,
  type ParsedAdkEvent,
  parseJson,
  parseLegacyEvent,
} from '@millrace/core'

/** An event as it stands on a wire of seed 000 or 002: its JSON, under the name that the JSON or the frame gives it. */
export interface WireEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** A frame as `onMessage` gets it, or why it cannot be read. */
export type SseReading<T> = { readonly event: T } | { readonly reason: string }

/** Seed 003's flag chooses: ADK events taken apart, flattened `{type, data}` events, or (absent) the wire as it is. */
export function readFrame(
  frame: Frame,
  canonical: boolean | undefined,
): SseReading<ParsedAdkEvent | LegacyEvent | WireEvent> {
  if (canonical === undefined) return { event: wireEvent(frame) }
  if (canonical) {
    const { event, error = '' } = normalizeSseBlock(frame)
    return event === undefined ? { reason: error } : { event }
  }
  const event = parseLegacyEvent(frame.data, frame.event)
  return event === null ? { reason: 'not a JSON object' } : { event }
}

/** Frames of ADK Studio whose data is text whatever it looks like: an answer may well be JSON. */
const textual: ReadonlySet<unknown> = new Set(['chunk', 'session', 'end'])

/** Data that is no JSON object comes as `{ type, data }`; an object without a type gets the frame's. */
function wireEvent({ event, data }: Frame): WireEvent {
  const type = event ?? 'message'
  if (textual.has(event)) return { type, data }
  const parsed = parseJson(data)
  if ('reason' in parsed || !isJsonObject(parsed.value)) return { type, data }
  const { value } = parsed
  return typeof value.type === 'string' ? { ...value, type: value.type } : { ...value, type }
}
