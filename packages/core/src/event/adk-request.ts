import { defined } from '../json/defined.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import type { AdkEvent, AdkFunctionCall, AdkFunctionResponse } from './adk-event.ts'
import { functionCallsOf, functionResponsesOf } from './adk-rules.ts'
import type { Interrupted, NodeId } from './run-event.ts'

/** The functions that ADK itself calls to ask a person: long-running calls that the next run answers. */
export const adkRequest = {
  confirmation: 'adk_request_confirmation',
  credential: 'adk_request_credential',
  input: 'adk_request_input',
} as const

/** The long-running calls of a run that still wait for their answer: when the run ends, a person is asked. */
export interface PendingCalls {
  push(event: AdkEvent, node?: NodeId): void
  /** One interrupt for each waiting call, oldest first. */
  interrupts(): readonly Interrupted[]
}

/** Values of `status` by which a long-running tool reports that it is not done. */
const waitingWords: ReadonlySet<string> = new Set([
  'pending',
  'in_progress',
  'in-progress',
  'running',
  'queued',
  'started',
  'submitted',
  'waiting',
])

function saysWaiting({ response }: AdkFunctionResponse): boolean {
  return typeof response?.status === 'string' && waitingWords.has(response.status.toLowerCase())
}

/**
 * `settles` says whether a response is the last one of its call: a long-running tool may first answer that it has only
 * begun. Without `settles` every response counts as the last, unless its `status` reports that it is not (`waits`).
 */
export function pendingCalls(
  settles: (response: AdkFunctionResponse, waits: boolean) => boolean = (_response, waits) => !waits,
): PendingCalls {
  const waiting = new Map<string, Interrupted>()
  return {
    push(event, node) {
      if (waiting.size > 0) {
        for (const response of functionResponsesOf(event)) {
          if (settles(response, saysWaiting(response))) waiting.delete(response.id ?? '')
        }
      }
      if (event.longRunningToolIds === undefined || event.longRunningToolIds.length === 0) return
      for (const call of functionCallsOf(event)) {
        if (call.id === undefined || !event.longRunningToolIds.includes(call.id)) continue
        waiting.set(call.id, { ...interruptOf(call.id, call), ...defined({ node }) })
      }
    },
    interrupts: () => [...waiting.values()],
  }
}

const confirmationSchema: JsonObject = {
  type: 'object',
  properties: { confirmed: { type: 'boolean' } },
  required: ['confirmed'],
}

/** The interrupt of a waiting call. Its `call` is the call in question: for a confirmation, the call that waits for it. */
function interruptOf(id: string, { name, args = {} }: AdkFunctionCall): Interrupted {
  const asked = { kind: 'interrupt', id, call: id } as const
  switch (name) {
    case adkRequest.confirmation:
      return { ...asked, ...confirmationOf(args) }
    case adkRequest.input: {
      const schema = args.response_schema ?? args.responseSchema
      const wanted = isJsonObject(schema) ? { schema } : {}
      return {
        ...asked,
        reason: 'input_required',
        ...message(args.message ?? args.prompt),
        ...wanted,
        ...payload(args.payload),
      }
    }
    case adkRequest.credential:
      // Its arguments are an auth configuration, which must not be repeated outside the event that carries it.
      return { ...asked, reason: 'credential', ...message(args.message) }
    default:
      return { ...asked, reason: 'tool_call', payload: { tool: name, args } }
  }
}

function confirmationOf({ originalFunctionCall: original, toolConfirmation: asked }: JsonObject): {
  readonly reason: string
  readonly call?: string
  readonly message?: string
  readonly payload?: Json
  readonly schema: JsonObject
} {
  const { hint, payload: extra } = isJsonObject(asked) ? asked : {}
  const about = isJsonObject(original)
    ? { tool: original.name ?? '', args: original.args ?? null, ...(isJsonObject(extra) ? { payload: extra } : {}) }
    : undefined
  return {
    reason: 'confirmation',
    ...(isJsonObject(original) && typeof original.id === 'string' ? { call: original.id } : {}),
    ...message(hint),
    ...payload(about),
    schema: confirmationSchema,
  }
}

/** The call that shows an ADK client another engine's interrupt, in the form of ADK's own RequestInput. */
export function requestOf({ id, message, payload, schema }: Interrupted): AdkFunctionCall {
  return {
    id,
    name: adkRequest.input,
    args: { interruptId: id, payload: payload ?? null, message: message ?? null, response_schema: schema ?? null },
  }
}

const message = (text: Json | undefined): { message?: string } =>
  typeof text === 'string' && text !== '' ? { message: text } : {}
const payload = (value: Json | undefined): { payload?: Json } =>
  value === undefined || value === null ? {} : { payload: value }
