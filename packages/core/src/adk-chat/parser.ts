import type { AdkEvent, AdkFunctionCall, AdkFunctionResponse } from '../event/adk-event.ts'
import { functionCallsOf, functionResponsesOf, isFinalResponse } from '../event/adk-rules.ts'
import { adkIngest } from '../event/ingest.ts'
import { defined } from '../json/defined.ts'
import { isJsonObject, type JsonObject, parseJson } from '../json/json.ts'
import type { AdkChatEvent, RawAdkEvent } from './selectors.ts'

// The parser of the chat front end (docs/requirements.md, R3), under its names, for front ends that keep ADK events
// themselves. It reads one event at a time and has no memory: it does not join partials to their aggregate, as the
// `message` of the `adk` decoder does.

/** One SSE message from any reader; a Frame fits. */
export interface SseEventBlock {
  readonly event?: string
  readonly id?: string
  readonly data: string
  readonly retry?: number
}

/** What an ADK event says, taken apart. */
export interface ParsedAdkEvent {
  /** The event in canonical form: camelCase, milliseconds. */
  readonly rawEvent: AdkChatEvent
  /** The event's own id. ADK gives every partial a new one: to join them, decode with the `adk` dialect. */
  readonly messageId: string
  readonly author: string
  readonly textParts: string[]
  readonly thoughtParts: string[]
  /** Empty for a partial, whose calls come again in the aggregate. */
  readonly functionCalls: ParsedFunctionCall[]
  readonly functionResponses: ParsedFunctionResponse[]
  readonly isAgentTransfer: boolean
  readonly transferTargetAgent?: string
  /** ADK's own rule: true once per step of an agent, so never the end of a run. */
  readonly isFinalResponse: boolean
  /** The `event:` field of the frame. */
  readonly eventType?: string
}

/** A call with the fields that front ends rely on. Without an id on the wire, `id` is the event's id and the place of the call. */
export interface ParsedFunctionCall extends AdkFunctionCall {
  readonly id: string
  /** `{}` where the wire gave none. */
  readonly args: JsonObject
}

/** A response with the fields that front ends rely on, filled in as those of a call are. */
export interface ParsedFunctionResponse extends AdkFunctionResponse {
  readonly id: string
  readonly response: JsonObject
}

/** A flattened `{type, data}` event, from the format before the canonical stream. */
export interface LegacyEvent {
  readonly type: string
  readonly data: JsonObject
}

export type NormalizeResult =
  | { readonly success: true; readonly event: ParsedAdkEvent; readonly error?: never }
  | { readonly success: false; readonly event?: never; readonly error: string }

/** The ADK event in a frame's data; null if the data is no ADK event or has no id, author or invocation. */
export function parseAdkEvent(data: string, eventType?: string): ParsedAdkEvent | null {
  return normalizeSseBlock({ data, ...defined({ event: eventType }) }).event ?? null
}

/** Like `parseAdkEvent`, with the reason if there is no event. */
export function normalizeSseBlock({ data, event: eventType }: SseEventBlock): NormalizeResult {
  const parsed = parseJson(data)
  if ('reason' in parsed) return { success: false, error: parsed.reason }
  const { value } = parsed
  for (const names of required) {
    if (!isJsonObject(value) || !names.some((name) => typeof value[name] === 'string' && value[name] !== '')) {
      return { success: false, error: `event.${names[0]} is missing` }
    }
  }
  const ingested = adkIngest()(value)
  if ('reason' in ingested) return { success: false, error: ingested.reason }
  return { success: true, event: takenApart(ingested.event, eventType) }
}
const required = [['id'], ['author'], ['invocationId', 'invocation_id']] as const

/**
 * Takes an ADK event apart, in either spelling and either unit of time. A value that is no ADK event gives an event
 * without content.
 */
export function normalizeAdkEvent(raw: RawAdkEvent, eventType?: string): ParsedAdkEvent {
  const ingested = adkIngest()(raw)
  const empty: AdkEvent = { id: '', author: '', invocationId: '', timestamp: 0 }
  return takenApart('reason' in ingested ? empty : ingested.event, eventType)
}

function takenApart(event: AdkEvent, eventType: string | undefined): ParsedAdkEvent {
  const parts = event.content?.parts ?? []
  const textsOf = (thoughts: boolean): string[] =>
    parts.flatMap(({ text, thought = false }) => (text === undefined || thought !== thoughts ? [] : text))
  const target = event.actions?.transferToAgent
  const transfers = target !== undefined && target !== ''
  return {
    // Its lists are ordinary arrays; the canonical type alone forbids to change them.
    rawEvent: event as AdkChatEvent,
    messageId: event.id,
    author: event.author,
    textParts: textsOf(false),
    thoughtParts: textsOf(true),
    functionCalls: functionCallsOf(event).map((call, i) => ({
      ...call,
      id: call.id ?? `${event.id}_${i}`,
      args: call.args ?? {},
    })),
    functionResponses: functionResponsesOf(event).map((answer, i) => ({
      ...answer,
      id: answer.id ?? `${event.id}_${i}`,
      response: answer.response ?? {},
    })),
    isAgentTransfer: transfers,
    ...(transfers ? { transferTargetAgent: target } : {}),
    isFinalResponse: isFinalResponse(event),
    ...(eventType === undefined ? {} : { eventType }),
  }
}

/**
 * A flattened event: `{type, data}`, or bare data whose type is the frame's `event:` field. Null when it is not a JSON
 * object. The type is `connection` if neither names one, as in the format before the canonical stream.
 */
export function parseLegacyEvent(data: string, eventType?: string): LegacyEvent | null {
  const parsed = parseJson(data)
  if ('reason' in parsed || !isJsonObject(parsed.value)) return null
  const { type, data: inner, ...rest } = parsed.value
  const name = typeof type === 'string' && type !== '' ? type : (eventType ?? 'connection')
  return { type: name, data: isJsonObject(inner) ? inner : inner === undefined ? rest : { ...rest, data: inner } }
}

/** One switch between the canonical stream (the default) and the flattened one (docs/requirements.md, R3). */
export function parseEventData(
  data: string,
  eventType?: string,
  options?: { readonly canonical?: true },
): ParsedAdkEvent | null
export function parseEventData(
  data: string,
  eventType: string | undefined,
  options: { readonly canonical: boolean },
): ParsedAdkEvent | LegacyEvent | null
export function parseEventData(
  data: string,
  eventType?: string,
  { canonical = true }: { readonly canonical?: boolean } = {},
): ParsedAdkEvent | LegacyEvent | null {
  return canonical ? parseAdkEvent(data, eventType) : parseLegacyEvent(data, eventType)
}
