import type { AdkPart } from '../../event/adk-event.ts'
import type { InputMessage } from '../../event/run-event.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { Fault } from '../../schema/fault.ts'
import { fields } from '../../schema/fields.ts'
import { dataObject, type FieldReader, list, notObject, oneOf, string } from '../../schema/readers.ts'
import { camelFields } from './camel-fields.ts'
import {
  agUiContentOf,
  argumentsOf,
  contentFromResponse,
  contentParts,
  responseFiles,
  responseFromContent,
} from './content.ts'
import { type AgUiMessage, type AgUiToolCall, print } from './wire.ts'

// Whole messages, in both directions: in RunAgentInput, in RUN_STARTED.input and in MESSAGES_SNAPSHOT.

/** A message, with its content in google.genai's parts. `activity` messages have none. */
export interface ReadMessage {
  readonly id: string
  readonly role: Role
  readonly name?: string
  readonly parts: readonly AdkPart[]
}
const roles = ['user', 'assistant', 'system', 'developer', 'tool', 'activity', 'reasoning'] as const
export type Role = (typeof roles)[number]

/** The function names of the calls so far, by call id: a tool's result carries only the id. */
export type ToolNames = Map<string, string>

/**
 * Reads one message of 1.0 or 0.x, with the camelCase keys of the protocol or the snake_case ones that Python peers may
 * send. The calls of an assistant are added to `calls`, which names the results that follow.
 */
export const messageReader =
  (calls: ToolNames): FieldReader<ReadMessage> =>
  (value, strict) => {
    if (!isObject(value)) return notObject
    const head = messageHead(value, strict)
    const known = roles.find((role) => role === value.role)
    const parts = known === undefined ? [] : readers[known](camelFields(value, snake), calls)
    if (head instanceof Fault || parts instanceof Fault) return Fault.join([head, parts])
    const { id, role, name } = head
    return { id, role, parts, ...(name === undefined ? {} : { name }) }
  }
const messageHead = fields({ id: string, role: oneOf(roles) }, { name: string })

type Reader = (value: Readonly<Record<string, unknown>>, calls: ToolNames) => readonly AdkPart[] | Fault

const plain: Reader = (value) => {
  const read = plainFields(value, false)
  return read instanceof Fault ? read : [{ text: read.content, ...signature(value) }]
}
const readers: Readonly<Record<Role, Reader>> = {
  system: plain,
  developer: plain,
  user(value) {
    const read = userFields(value, false)
    return read instanceof Fault ? read : read.content
  },
  assistant(value, calls) {
    const read = assistantFields(value, false)
    if (read instanceof Fault) return read
    const { content = [], toolCalls = [] } = read
    for (const { functionCall } of toolCalls)
      if (functionCall?.id !== undefined) calls.set(functionCall.id, functionCall.name)
    const text = content.map((part) => part.text ?? '').join('')
    return text === '' ? toolCalls : [{ text, ...signature(value) }, ...toolCalls]
  },
  tool(value, calls) {
    const read = toolFields(value, false)
    if (read instanceof Fault) return read
    const id = read.toolCallId
    const content = value.content as Json
    const files = responseFiles(content)
    const failed = typeof value.error === 'string' ? { error: value.error } : {}
    return [
      {
        functionResponse: {
          id,
          name: calls.get(id) ?? '',
          response: { ...responseFromContent(content), ...failed },
          ...(files.length > 0 ? { parts: files } : {}),
        },
      },
    ]
  },
  activity(value) {
    const read = activityFields(value, false)
    return read instanceof Fault ? read : []
  },
  reasoning(value, calls) {
    const parts = plain(value, calls)
    return parts instanceof Fault ? parts : parts.map((part) => ({ ...part, thought: true }))
  },
}

const toolCall: FieldReader<AdkPart> = (value, strict) => {
  const read = callFields(value, strict)
  if (read instanceof Fault || !isObject(value)) return read instanceof Fault ? read : notObject
  const { name, arguments: given } = read.function
  return { functionCall: { id: read.id, name, ...callArguments(given) }, ...signature(camelFields(value, snake)) }
}
const callFields = fields({ id: string, function: fields({ name: string, arguments: string }, {}) }, {})

const plainFields = fields({ content: string }, {})
const userFields = fields({ content: contentParts }, {})
/** An assistant's content is text or absent; some 0.x peers send parts all the same. */
const assistantFields = fields({}, { content: contentParts, toolCalls: list(toolCall) })
const toolFields = fields({ toolCallId: string, content: contentParts }, {})
const activityFields = fields({ content: dataObject, activityType: string }, {})

export interface CallArguments {
  readonly args?: JsonObject
  readonly argsText?: string
  readonly argsError?: string
}

/**
 * The arguments of a call: parsed, and their text as well where printing them again would not give it back. Text that
 * is no JSON object stays text, with an error and without `args`, so that it is not taken for a call without arguments.
 */
export function callArguments(given: string): CallArguments {
  const args = argumentsOf(given)
  if (args === undefined) return { argsText: given, argsError: 'not a JSON object' }
  return print(args) === given ? { args } : { args, argsText: given }
}

function signature(value: Readonly<Record<string, unknown>>): { readonly thoughtSignature?: string } {
  return typeof value.encryptedValue === 'string' ? { thoughtSignature: value.encryptedValue } : {}
}

const snake: Readonly<Record<string, string>> = {
  tool_calls: 'toolCalls',
  tool_call_id: 'toolCallId',
  encrypted_value: 'encryptedValue',
  activity_type: 'activityType',
}

/**
 * Whether a message can be printed as it came: 1.0 refuses null for absent, the 0.x `binary` part and wrong types, and
 * strips the snake_case keys of Python peers.
 */
export function isCurrent(message: unknown): boolean {
  if (!isObject(message) || !isClean(message)) return false
  if (Object.keys(message).some((key) => Object.hasOwn(snake, key))) return false
  const { content, toolCalls } = message
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  const calls: readonly unknown[] = Array.isArray(toolCalls) ? toolCalls : []
  return (
    parts.every((part) => isObject(part) && part.type !== 'binary' && isClean(part) && isClean(part.source)) &&
    calls.every((call) => isObject(call) && call.type === 'function' && isClean(call))
  )
}

/** Whether the fields that are kept but not read have the types that 1.0 demands. */
export function isClean(value: unknown): boolean {
  if (!isObject(value)) return true
  if (Object.values(value).includes(null)) return false
  return !(unreadFields(value, false) instanceof Fault)
}
const unreadFields = fields(
  {},
  {
    metadata: dataObject,
    encryptedValue: string,
    subagentRunId: string,
    id: string,
    mimeType: string,
    provider: string,
    error: string,
  },
)

/** A message of a run's input as AG-UI messages: several when it carries the results of several tools. */
export function printMessage({ id, role, name, content }: InputMessage): readonly AgUiMessage[] {
  const parts = partsIn(isObject(content) ? content.parts : undefined)
  const base = { id, ...(name === undefined ? {} : { name }) }
  switch (role) {
    case 'tool':
      return toolMessages(id, parts)
    case 'assistant':
      return [assistantMessage(base, parts)]
    default: {
      const said = agUiContentOf(parts)
      const content = role === 'user' || typeof said === 'string' ? said : parts.map((part) => str(part.text)).join('')
      return [{ ...base, role, content }]
    }
  }
}

function toolMessages(id: string, parts: readonly AdkPart[]): AgUiMessage[] {
  const responses = parts.flatMap((part) => (isObject(part.functionResponse) ? [part.functionResponse] : []))
  return responses.map((response, index) => ({
    id: index === 0 ? id : `${id}:${index}`,
    role: 'tool',
    content: contentFromResponse(response.response, partsIn(response.parts)),
    toolCallId: str(response.id),
  }))
}

function assistantMessage(
  base: { readonly id: string; readonly name?: string },
  parts: readonly AdkPart[],
): AgUiMessage {
  const calls = parts.flatMap((part) => wireCall(part, base.id) ?? [])
  const said = agUiContentOf(parts)
  const thought = parts.map((part) => (part.thought === true ? str(part.text) : '')).join('')
  const sealed = parts.find((part) => part.functionCall === undefined && typeof part.thoughtSignature === 'string')
  const encrypted = sealed?.thoughtSignature === undefined ? {} : { encryptedValue: sealed.thoughtSignature }
  if (thought !== '' && said === '' && calls.length === 0) {
    return { id: base.id, role: 'reasoning', content: thought, ...encrypted }
  }
  return {
    ...base,
    role: 'assistant',
    ...(typeof said === 'string' && (said !== '' || calls.length === 0) ? { content: said } : {}),
    ...(calls.length > 0 ? { toolCalls: calls } : {}),
    ...encrypted,
  }
}

function wireCall({ functionCall, thoughtSignature }: AdkPart, message: string): AgUiToolCall | undefined {
  if (!isObject(functionCall)) return undefined
  return {
    id: typeof functionCall.id === 'string' ? functionCall.id : message,
    type: 'function',
    function: { name: str(functionCall.name), arguments: argumentText(functionCall) },
    ...(typeof thoughtSignature === 'string' ? { encryptedValue: thoughtSignature } : {}),
  }
}

/** The text of a call's arguments: as it was read, otherwise printed. */
export function argumentText({ args, argsText }: { readonly args?: unknown; readonly argsText?: unknown }): string {
  if (typeof argsText === 'string') return argsText
  return isObject(args) ? print(args as JsonObject) : '{}'
}

export function partsIn(value: unknown): readonly AdkPart[] {
  if (!Array.isArray(value)) return []
  return value.every(isObject) ? value : value.filter(isObject)
}

function str(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
