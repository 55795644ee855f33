import type { ClientTool, InputMessage, ResumeAnswer, RunInput } from '../../event/run-event.ts'
import { defined } from '../../json/defined.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { Fault, type FieldError } from '../../schema/fault.ts'
import { fields } from '../../schema/fields.ts'
import { data, dataObject, type FieldReader, list, notObject, oneOf, string } from '../../schema/readers.ts'
import type { AgUiProtocol } from '../dialect.ts'
import { camelFields } from './camel-fields.ts'
import { isClean, isCurrent, messageReader, printMessage, type ReadMessage, type ToolNames } from './message.ts'
import type { AgUiMessage } from './wire.ts'

/** What a RunAgentInput asks for: the session, the run, and the input of that run. */
export interface AgUiRequest {
  readonly threadId: string
  readonly runId: string
  readonly parentRunId?: string
  /** The version that the client understands. Clients of 1.0 and later send it; older ones send none. */
  readonly protocol: AgUiProtocol
  readonly input: RunInput
  /** The client has no state, not even an empty one. */
  readonly stateless?: true
}

/**
 * Reads the body of an AG-UI request: 1.0 or 0.x, camelCase or the snake_case of Python peers, `null` as absent,
 * `binary` parts upgraded. Every bad field is named with its path, not only the first. The messages are all that the
 * client sent, oldest first; the caller finds out by their ids which of them are new to the session. Activity
 * messages are a client's own display state and are left out.
 */
export function readRunAgentInput(body: unknown): AgUiRequest | { readonly errors: readonly FieldError[] } {
  return readInput(body, new Map())
}

/** The same, for a caller that knows calls which the input itself does not repeat. */
export function readInput(body: unknown, calls: ToolNames): AgUiRequest | { readonly errors: readonly FieldError[] } {
  if (!isObject(body)) return { errors: notObject.errors }
  const given = camelFields(body, snake)
  const read = inputFields(given, false)
  const messages = messagesReader(calls)(given.messages, false)
  const optional = optionalFields(given, false)
  if (read instanceof Fault || messages instanceof Fault || optional instanceof Fault) {
    const inMessages = messages instanceof Fault ? messages.under('.messages') : messages
    return { errors: Fault.join([read, inMessages, optional]).errors }
  }
  const { threadId, runId, parentRunId } = read
  const protocol = protocolOf(given.protocolVersion)
  const { state, tools, context: about, resume } = optional
  const props = given.forwardedProps ?? undefined
  return {
    threadId,
    runId,
    ...defined({ parentRunId }),
    protocol,
    // Clients of 1.0 leave out what is null.
    ...(given.state === null || (given.state === undefined && protocol === '1') ? { stateless: true } : {}),
    input: {
      messages: messages.flatMap(inputMessage),
      ...(state === undefined || Object.keys(state).length === 0 ? {} : { state }),
      ...(tools === undefined || tools.length === 0 ? {} : { tools }),
      ...(about === undefined || about.length === 0 ? {} : { context: about }),
      ...(resume === undefined || resume.length === 0 ? {} : { resume }),
      ...(props === undefined ? {} : forwarded(props)),
    },
  }
}

/** A malformed version is not refused, because the protocol asks peers only to warn about it. */
export function protocolOf(version: unknown): AgUiProtocol {
  return typeof version === 'string' && /^[1-9]\d*(\.|$)/.test(version) ? '1' : '0'
}

/** The messages of an input or a snapshot; their calls name the results that follow. */
export function messagesReader(calls: ToolNames): FieldReader<readonly ReadMessage[]> {
  return list(messageReader(calls))
}

export function inputMessage({ id, role, name, parts }: ReadMessage): readonly InputMessage[] {
  if (role === 'activity') return []
  const byAgent = role === 'assistant' || role === 'reasoning'
  return [
    {
      id,
      role: role === 'reasoning' ? 'assistant' : role,
      content: { role: byAgent ? 'model' : 'user', parts },
      ...defined({ name }),
    },
  ]
}

/**
 * Properties from the client. An empty object is absent, and a value that is no object is kept under its field's name.
 */
function forwarded(given: unknown): { readonly props?: JsonObject } {
  if (!isObject(given)) return { props: { forwardedProps: given as Json } }
  return Object.keys(given).length === 0 ? {} : { props: given as JsonObject }
}

const answer: FieldReader<ResumeAnswer> = (value, strict) => {
  const read = answerFields(isObject(value) ? camelFields(value, snake) : value, strict)
  if (read instanceof Fault) return read
  const { interruptId, status, payload } = read
  return { interrupt: interruptId, status, ...defined({ payload }) }
}
const answerFields = fields({ interruptId: string, status: oneOf(['resolved', 'cancelled']) }, { payload: data })

const inputFields = fields({ threadId: string, runId: string }, { parentRunId: string })
const optionalFields = fields(
  {},
  {
    state: dataObject,
    tools: list<ClientTool>(fields({ name: string, description: string }, { parameters: dataObject })),
    context: list(fields({ description: string, value: string }, {})),
    resume: list(answer),
  },
)

const snake: Readonly<Record<string, string>> = {
  thread_id: 'threadId',
  run_id: 'runId',
  protocol_version: 'protocolVersion',
  parent_run_id: 'parentRunId',
  forwarded_props: 'forwardedProps',
  interrupt_id: 'interruptId',
}

/** Whether an input can be printed as it came: see `isCurrent`. */
export function isCurrentInput(given: JsonObject): boolean {
  const listed = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
  const { protocolVersion = '' } = given
  if (typeof protocolVersion !== 'string') return false
  if (![given, ...listed(given.tools), ...listed(given.resume)].every(isClean)) return false
  return !Object.keys(given).some((key) => Object.hasOwn(snake, key)) && listed(given.messages).every(isCurrent)
}

/** RunAgentInput as JSON. */
export type RunAgentInput = {
  readonly threadId: string
  readonly runId: string
  readonly parentRunId?: string
  readonly state?: JsonObject
  readonly messages: readonly AgUiMessage[]
  readonly tools?: readonly JsonObject[]
  readonly context?: readonly JsonObject[]
  readonly forwardedProps?: JsonObject
  readonly resume?: readonly JsonObject[]
}

/** The input of a run as RUN_STARTED repeats it, without empty fields. Undefined when nothing is left. */
export function echoOf(threadId: string, runId: string, input: RunInput): RunAgentInput | undefined {
  const { messages, state, tools = [], context = [], resume = [], props } = input
  const more = {
    ...defined({ state, forwardedProps: props }),
    ...(tools.length === 0 ? {} : { tools: tools.map((one) => ({ ...one })) }),
    ...(context.length === 0 ? {} : { context: context.map((one) => ({ ...one })) }),
    ...(resume.length === 0 ? {} : { resume: resume.map(printAnswer) }),
  }
  if (messages.length === 0 && Object.keys(more).length === 0) return undefined
  return { threadId, runId, messages: messages.flatMap(printMessage), ...more }
}

export function printAnswer({ interrupt, status, payload }: ResumeAnswer): JsonObject {
  return { interruptId: interrupt, status, ...(payload === undefined || payload === null ? {} : { payload }) }
}
