import {
  type Event,
  REQUEST_CONFIRMATION_FUNCTION_CALL_NAME,
  REQUEST_CREDENTIAL_FUNCTION_CALL_NAME,
  REQUEST_INPUT_FUNCTION_CALL_NAME,
} from '@google/adk'
import {
  type AdkEvent,
  type AdkFunctionCall,
  type AdkPart,
  type Interrupted,
  isObject,
  type Json,
  type JsonObject,
  type NodeId,
  type ResumeAnswer,
  type RunInput,
} from '@millrace/core'

/** The name of the tool behind each call of the session. */
export type CallNames = ReadonlyMap<string, string>

/** What a person was asked and has not answered, by interrupt id. */
export type OpenInterrupts = Map<string, Interrupted>

/** Words by which a long-running tool says that it is not done. Any other `status` says that it is. */
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

/** Gathers, over the events of a run, which calls wait for a person when it ends. */
export interface Waiting {
  take(event: AdkEvent, node: NodeId | undefined): void
  interrupts(): readonly Interrupted[]
}

/** `settling` names long-running tools whose first answer is their last (workflows). */
export function waiting(settling: ReadonlySet<string>): Waiting {
  const open = new Map<string, Interrupted>()
  return {
    take(event, node) {
      for (const { functionCall, functionResponse } of event.content?.parts ?? []) {
        if (functionCall?.id !== undefined && event.longRunningToolIds?.includes(functionCall.id)) {
          open.set(functionCall.id, interruptOf(functionCall, functionCall.id, node))
        }
        if (functionResponse?.id === undefined) continue
        if (settling.has(functionResponse.name) || isDone(functionResponse.response)) open.delete(functionResponse.id)
      }
    },
    interrupts: () => [...open.values()],
  }
}

function isDone(response: JsonObject | undefined): boolean {
  if (response === undefined) return false
  if (response.error !== undefined) return true
  return typeof response.status === 'string' && !waitingWords.has(response.status.toLowerCase())
}

function interruptOf(call: AdkFunctionCall, id: string, node: NodeId | undefined): Interrupted {
  const args = call.args ?? {}
  const base = { kind: 'interrupt' as const, id, ...(node === undefined ? {} : { node }) }
  switch (call.name) {
    case REQUEST_CONFIRMATION_FUNCTION_CALL_NAME: {
      const { originalFunctionCall: original, toolConfirmation: asked } = args
      const pinned: Readonly<Record<string, unknown>> = isObject(original) ? original : {}
      const hint = isObject(asked) && typeof asked.hint === 'string' ? asked.hint : undefined
      const extra = isObject(asked) && isObject(asked.payload) ? { payload: asked.payload } : {}
      return {
        ...base,
        reason: 'confirmation',
        ...(typeof pinned.id === 'string' ? { call: pinned.id } : {}),
        ...(hint === undefined ? {} : { message: hint }),
        payload: { tool: String(pinned.name ?? ''), args: jsonOf(pinned.args), ...extra } as JsonObject,
        schema: confirmationSchema,
      }
    }
    case REQUEST_INPUT_FUNCTION_CALL_NAME:
      return {
        ...base,
        reason: 'input_required',
        call: id,
        ...(typeof args.message === 'string' ? { message: args.message } : {}),
        ...(isObject(args.response_schema) ? { schema: args.response_schema as JsonObject } : {}),
        ...(args.payload === undefined ? {} : { payload: args.payload }),
      }
    case REQUEST_CREDENTIAL_FUNCTION_CALL_NAME:
      return { ...base, reason: 'credential', call: id, payload: { args } }
    default:
      return { ...base, reason: 'tool_call', call: id, payload: { tool: call.name, args } }
  }
}

const confirmationSchema: JsonObject = {
  type: 'object',
  properties: { confirmed: { type: 'boolean' } },
  required: ['confirmed'],
}

/**
 * The function responses of one run's input: those in its messages, and its answers to interrupts. A client that has
 * only the call's id (AG-UI) is helped out with the tool's name.
 */
export function answers(input: RunInput, open: OpenInterrupts, calls: CallNames): readonly AdkPart[] {
  const parts = new Map<string, AdkPart>()
  for (const { interrupt, status, payload } of input.resume ?? []) {
    const asked = open.get(interrupt)
    if (asked !== undefined) parts.set(asked.id, answerPart(asked, { interrupt, status, ...given(payload) }))
  }
  for (const { functionResponse } of input.messages.flatMap(({ content }) => content.parts ?? [])) {
    if (functionResponse?.id === undefined) continue
    const { id, response = {} } = functionResponse
    const asked = open.get(id) ?? [...open.values()].find(({ call }) => call === id)
    if (asked === undefined) parts.set(id, responsePart(id, calls.get(id) ?? functionResponse.name, response))
    else parts.set(asked.id, answerPart(asked, { interrupt: asked.id, status: 'resolved', payload: response }))
  }
  return [...parts.values()]
}

function answerPart(asked: Interrupted, { status, payload }: ResumeAnswer): AdkPart {
  const cancelled = status === 'cancelled'
  if (asked.reason === 'confirmation') {
    const response = { confirmed: !cancelled && isConfirmed(payload), ...(isObject(payload) ? { payload } : {}) }
    return responsePart(asked.id, REQUEST_CONFIRMATION_FUNCTION_CALL_NAME, response as JsonObject)
  }
  if (cancelled)
    return responsePart(asked.id, nameOf(asked), { status: 'cancelled', error: 'The user cancelled this.' })
  const response = isObject(payload) ? (payload as JsonObject) : { result: payload ?? null }
  return responsePart(asked.id, nameOf(asked), response)
}

/** `{ confirmed: true }` is ADK's word, `{ approved: true }` AG-UI's; a bare yes or no will do. Silence is no consent. */
function isConfirmed(payload: Json | undefined): boolean {
  if (isObject(payload)) return payload.confirmed === true || payload.approved === true
  return payload === true
}

function nameOf(asked: Interrupted): string {
  if (asked.reason === 'input_required') return REQUEST_INPUT_FUNCTION_CALL_NAME
  if (asked.reason === 'credential') return REQUEST_CREDENTIAL_FUNCTION_CALL_NAME
  return isObject(asked.payload) ? String(asked.payload.tool ?? '') : ''
}

function responsePart(id: string, name: string, response: JsonObject): AdkPart {
  return { functionResponse: { id, name, response } }
}

function given(payload: Json | undefined): { payload?: Json } {
  return payload === undefined ? {} : { payload }
}

function jsonOf(value: unknown): Json {
  return value === undefined ? null : JSON.parse(JSON.stringify(value))
}

/** The calls of the turn that a confirmation was asked in, apart from those it asks about. */
export function turnBeside(confirmation: Event, events: readonly Event[]): readonly { id: string; name: string }[] {
  const pinned = new Set(
    (confirmation.content?.parts ?? []).flatMap(({ functionCall }) => {
      const original = functionCall?.args?.originalFunctionCall
      return functionCall?.name === REQUEST_CONFIRMATION_FUNCTION_CALL_NAME && isObject(original) ? [original.id] : []
    }),
  )
  if (pinned.size === 0) return []
  const callsOf = (event: Event) => (event.content?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? [])
  const turn = events.findLast((event) => event !== confirmation && callsOf(event).some(({ id }) => pinned.has(id)))
  return (turn === undefined ? [] : callsOf(turn)).flatMap(({ id, name }) =>
    id === undefined || name === undefined || pinned.has(id) ? [] : [{ id, name }],
  )
}
