import type { AdkEvent, AdkFunctionCall } from './adk-event.ts'
import { functionCallsOf, functionResponsesOf } from './adk-rules.ts'
import { isJsonObject, type Json } from './json.ts'
import type { Interrupted } from './run-event.ts'

/** The functions by which ADK itself asks a person: long-running calls that the next run answers. */
export const adkRequest = {
  confirmation: 'adk_request_confirmation',
  credential: 'adk_request_credential',
  input: 'adk_request_input',
} as const

/** Which long-running calls of a run still wait for their answer: when the run ends, a person is asked. */
export interface PendingCalls {
  push(event: AdkEvent): void
  /** What waits now, oldest first. */
  interrupts(): readonly Interrupted[]
}

export function pendingCalls(): PendingCalls {
  const waiting = new Map<string, AdkFunctionCall>()
  return {
    push(event) {
      if (waiting.size > 0) for (const { id = '' } of functionResponsesOf(event)) waiting.delete(id)
      if (event.longRunningToolIds === undefined || event.longRunningToolIds.length === 0) return
      for (const call of functionCallsOf(event)) {
        if (call.id !== undefined && event.longRunningToolIds.includes(call.id)) waiting.set(call.id, call)
      }
    },
    interrupts: () => [...waiting].map(([id, call]) => interruptOf(id, call)),
  }
}

/** What a waiting call asks a person, in the canonical words. */
function interruptOf(id: string, { name, args = {} }: AdkFunctionCall): Interrupted {
  const asked = { kind: 'interrupt', id, call: id } as const
  switch (name) {
    case adkRequest.confirmation: {
      const hint = isJsonObject(args.toolConfirmation) ? args.toolConfirmation.hint : undefined
      return { ...asked, reason: 'confirmation', ...message(hint), ...payload(args.originalFunctionCall) }
    }
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
      // Its arguments are an auth configuration: not repeated outside the event that carries it.
      return { ...asked, reason: 'credential', ...message(args.message) }
    default:
      return { ...asked, reason: 'tool_call', payload: { name, args } }
  }
}

/** The call by which an ADK client is asked what some other engine's interrupt asks: as ADK's own RequestInput writes it. */
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
