import {
  type Frame,
  isJsonObject,
  type LegacyEvent,
  normalizeSseBlock,
  type ParsedAdkEvent,
  parseJson,
  parseLegacyEvent,
} from '@millrace/core'

/** An event as it is on the wire: its JSON, with the type that the JSON or the frame gives it. */
export interface WireEvent {
  readonly type: string
  readonly [field: string]: unknown
}

/** A frame as `onMessage` receives it, or the reason why it cannot be read. */
export type ReadFrameResult<T> = { readonly event: T } | { readonly reason: string }

/** `canonical` selects the form: true: parsed ADK events; false: flattened `{type, data}` events; absent: the wire's own. */
export function readFrame(
  frame: Frame,
  canonical: boolean | undefined,
): ReadFrameResult<ParsedAdkEvent | LegacyEvent | WireEvent> {
  if (canonical === undefined) return { event: wireEvent(frame) }
  if (canonical) {
    const { event, error = '' } = normalizeSseBlock(frame)
    return event === undefined ? { reason: error } : { event }
  }
  const event = parseLegacyEvent(frame.data, frame.event)
  return event === null ? { reason: 'not a JSON object' } : { event }
}

/** Frames of ADK Studio whose data is always text, even where it looks like JSON: an answer may be JSON. */
const textual: ReadonlySet<unknown> = new Set(['chunk', 'session', 'end'])

/** Data that is not a JSON object becomes `{ type, data }`; an object without a type gets the type of the frame. */
function wireEvent({ event, data }: Frame): WireEvent {
  const type = event ?? 'message'
  if (textual.has(event)) return { type, data }
  const parsed = parseJson(data)
  if ('reason' in parsed || !isJsonObject(parsed.value)) return { type, data }
  const { value } = parsed
  return typeof value.type === 'string' ? { ...value, type: value.type } : { ...value, type }
}
