import {
  type AdkPart,
  adkRequest,
  defined,
  type Interrupted,
  isObject,
  type Json,
  type JsonObject,
  type ResumeAnswer,
  type RunInput,
} from '@millrace/core'

/** The name of the tool behind each call of the session. */
export type CallNames = ReadonlyMap<string, string>

/** The interrupts that a person has not answered yet, by id. */
export type OpenInterrupts = Map<string, Interrupted>

/**
 * The function responses of one run's input: those in its messages, and its answers to interrupts. The tool's name is
 * filled in for clients that send only the call's id (AG-UI).
 */
export function answers(input: RunInput, open: OpenInterrupts, calls: CallNames): readonly AdkPart[] {
  const parts = new Map<string, AdkPart>()
  for (const { interrupt, status, payload } of input.resume ?? []) {
    const asked = open.get(interrupt)
    if (asked !== undefined) parts.set(asked.id, answerPart(asked, { interrupt, status, ...defined({ payload }) }))
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

/** The open interrupts that this input answers. */
export function answeredBy(input: RunInput, open: OpenInterrupts): OpenInterrupts {
  const ids = new Set(answers(input, open, new Map()).map(({ functionResponse }) => functionResponse?.id))
  return new Map([...open].filter(([id]) => ids.has(id)))
}

function answerPart(asked: Interrupted, { status, payload }: ResumeAnswer): AdkPart {
  const cancelled = status === 'cancelled'
  if (asked.reason === 'confirmation') {
    const given = isObject(payload) ? { payload: confirmationPayload(payload) } : {}
    const response = { confirmed: !cancelled && isConfirmed(payload), ...given }
    return responsePart(asked.id, adkRequest.confirmation, response as JsonObject)
  }
  if (cancelled)
    return responsePart(asked.id, nameOf(asked), { status: 'cancelled', error: 'The user cancelled this.' })
  const response = isObject(payload) ? (payload as JsonObject) : { result: payload ?? null }
  return responsePart(asked.id, nameOf(asked), response)
}

/**
 * What the tool reads as its confirmation's payload. ADK's clients send it as `payload` beside `confirmed`; from others
 * it is the answer itself. Changed arguments (`args`) stay in it.
 */
function confirmationPayload(answer: Readonly<Record<string, unknown>>): unknown {
  const { payload, args } = answer
  if (payload === undefined) return answer
  return isObject(payload) && isObject(args) ? { args, ...payload } : payload
}

/** ADK sends `{ confirmed: true }`, AG-UI `{ approved: true }`; a plain `true` counts too. Anything else is a no. */
function isConfirmed(payload: Json | undefined): boolean {
  if (isObject(payload)) return payload.confirmed === true || payload.approved === true
  return payload === true
}

function nameOf(asked: Interrupted): string {
  if (asked.reason === 'input_required') return adkRequest.input
  if (asked.reason === 'credential') return adkRequest.credential
  return isObject(asked.payload) ? String(asked.payload.tool ?? '') : ''
}

function responsePart(id: string, name: string, response: JsonObject): AdkPart {
  return { functionResponse: { id, name, response } }
}
