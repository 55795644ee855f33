import { createEvent, type Event, REQUEST_INPUT_FUNCTION_CALL_NAME } from '@google/adk'
import {
  type AdkContent,
  type AdkEvent,
  type AdkPart,
  type InputMessage,
  isObject,
  isPartial,
  type Recorded,
  type RunInput,
} from '@millrace/core'
import { answers, type CallNames, type OpenInterrupts } from '../answer-parts.ts'
import { isNested } from '../nested-event.ts'

type Content = NonNullable<Event['content']>

/** The earlier part of the conversation, in the form that ADK needs. */
export interface Past {
  readonly events: Event[]
  /** System and developer messages: they are instructions for their run and every later one. */
  readonly instructions: readonly string[]
  readonly interrupts: OpenInterrupts
  readonly calls: CallNames
  /** The messages of the run that is resumed, with its answers to questions that were open when it began. */
  readonly input: readonly AdkContent[] | undefined
}

/**
 * The log's rows as ADK's session events, in the log's order, without partials (their aggregate follows), without the
 * events inside a specialist, and without superseded messages.
 */
export function pastOf(history: readonly Recorded[], agent: string, resumed?: string): Past {
  const superseded = new Set<string>()
  for (const { event } of history)
    if (event.kind === 'superseded') for (const message of event.messages) superseded.add(message)
  const events: Event[] = []
  const instructions: string[] = []
  const interrupts: OpenInterrupts = new Map()
  const calls = new Map<string, string>()
  let input: readonly AdkContent[] | undefined
  for (const { event, run, at } of history) {
    if (event.kind === 'run.started') {
      const contents = inputContents(event.input, interrupts, calls)
      if (run === resumed) input = contents
      for (const content of contents) {
        noteCalls(content, calls)
        events.push(
          createEvent({ id: `${run}-${events.length}`, invocationId: run, timestamp: at, ...authored(content, agent) }),
        )
      }
      instructions.push(...instructionsOf(event.input.messages))
    } else if (event.kind === 'agent') {
      if (!isPartial(event.event) && !isNested(event.event) && !superseded.has(event.message)) {
        events.push(...confirmable(event.event), adkEvent(event.event))
        noteCalls(event.event.content, calls)
      }
    } else if (event.kind === 'interrupt') interrupts.set(event.id, event)
    else if (event.kind === 'resumed') interrupts.delete(event.interrupt)
  }
  return { events, instructions, interrupts, calls, input }
}

/**
 * A tool that asks for confirmation itself answers "not yet". ADK 2.0.0 never yields that answer, but refuses the
 * confirmation without it ("confirmation_not_required"). So it is added here, before the question.
 */
function confirmable(event: AdkEvent): readonly Event[] {
  const asked = Object.keys(event.actions?.requestedToolConfirmations ?? {})
  if (asked.length === 0) return []
  const calls = (event.content?.parts ?? []).flatMap(
    ({ functionCall }) => functionCall?.args?.originalFunctionCall ?? [],
  )
  const parts = calls.flatMap((call) => {
    if (!isObject(call) || typeof call.id !== 'string' || !asked.includes(call.id)) return []
    return [{ functionResponse: { id: call.id, name: String(call.name), response: { status: 'pending' } } }]
  })
  if (parts.length === 0) return []
  return [adkEvent({ ...event, id: `${event.id}-asked`, longRunningToolIds: [], content: { role: 'user', parts } })]
}

function noteCalls(content: AdkContent | undefined, calls: Map<string, string>): void {
  for (const { functionCall } of content?.parts ?? []) {
    if (functionCall?.id !== undefined) calls.set(functionCall.id, functionCall.name)
  }
}

/**
 * The messages of one run as contents, oldest first. Its answers to calls of the session form one content, as ADK
 * expects. A client may bring history from elsewhere: results of calls that its own messages contain stay where they are.
 */
export function inputContents(input: RunInput, interrupts: OpenInterrupts, calls: CallNames): readonly AdkContent[] {
  const contents: AdkContent[] = []
  const brought = new Set(
    input.messages.flatMap(({ content }) =>
      (content.parts ?? []).flatMap(({ functionCall }) => functionCall?.id ?? []),
    ),
  )
  const isBrought = ({ functionResponse }: AdkPart): boolean => brought.has(functionResponse?.id ?? '')
  // ADK throws at a response without its call, so one of a call that is nowhere to be found is left out.
  const answered = answers(input, interrupts, calls).filter(
    (part) => !isBrought(part) && isCalled(part.functionResponse?.id ?? '', interrupts, calls),
  )
  if (answered.length > 0) contents.push({ role: 'user', parts: answered })
  const texts = answered.flatMap(asText)
  if (texts.length > 0) contents.push({ role: 'user', parts: texts })
  for (const message of input.messages) {
    const parts = (message.content.parts ?? []).filter((part) => part.functionResponse === undefined || isBrought(part))
    if (parts.length === 0) continue
    if (message.role === 'tool') contents.push({ role: 'user', parts })
    else if (message.role === 'assistant') contents.push({ role: 'model', parts })
    else if (message.role === 'user') contents.push({ role: 'user', parts })
  }
  return contents
}

function isCalled(id: string, interrupts: OpenInterrupts, calls: CallNames): boolean {
  return calls.has(id) || interrupts.has(id)
}

/** ADK withholds the answer to its own question (`adk_request_input`) from the model, so it is added as text too. */
function asText({ functionResponse }: AdkPart): readonly AdkPart[] {
  if (functionResponse?.name !== REQUEST_INPUT_FUNCTION_CALL_NAME) return []
  const { result, ...more } = functionResponse.response ?? {}
  const answer = Object.keys(more).length === 0 ? result : functionResponse.response
  return [{ text: typeof answer === 'string' ? answer : JSON.stringify(answer) }]
}

export function instructionsOf(messages: readonly InputMessage[]): readonly string[] {
  return messages.flatMap(({ role, content }) => {
    if (role !== 'system' && role !== 'developer') return []
    const text = (content.parts ?? []).map((part) => part.text ?? '').join('')
    return text === '' ? [] : [text]
  })
}

export function authored(content: AdkContent, agent: string): { author: string; content: Content } {
  return { author: content.role === 'model' ? agent : 'user', content: adkContent(content) }
}

/** Our type describes ADK's own shape, but read-only and open to new fields; the value is the same. */
export function adkContent(content: AdkContent): Content {
  return content as unknown as Content
}

function adkEvent(event: AdkEvent): Event {
  return createEvent(event as unknown as Parameters<typeof createEvent>[0])
}
