import type { AdkPart } from '../../event/adk-event.ts'
import type { InputMessage } from '../../event/run-event.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import {
  agUiContentOf,
  argumentsOf,
  contentFromResponse,
  contentParts,
  responseFiles,
  responseFromContent,
} from './content.ts'
import {
  type AgUiMessage,
  type AgUiToolCall,
  type Check,
  type FieldError,
  listField,
  object,
  oneOfField,
  print,
  read,
  textField,
} from './wire.ts'

// Whole messages, both ways: in RunAgentInput, in RUN_STARTED.input and in MESSAGES_SNAPSHOT.

/** A message as it was read: who, and what in google.genai's parts. `activity` messages have none. */
export interface ReadMessage {
  readonly id: string
  readonly role: Role
  readonly name?: string
  readonly parts: readonly AdkPart[]
}
const roles = ['user', 'assistant', 'system', 'developer', 'tool', 'activity', 'reasoning'] as const
export type Role = (typeof roles)[number]

/** The names of the functions called so far: a tool's result names only its call. */
export type ToolNames = Map<string, string>

/**
 * Reads one message, of 1.0 or 0.x, with the camelCase keys of the protocol or the snake_case ones that Python peers
 * may send. Undefined, and why in `errors`, when it is none.
 */
export function readMessage(
  value: unknown,
  path: string,
  errors: FieldError[],
  calls: ToolNames,
): ReadMessage | undefined {
  if (!isObject(value)) {
    errors.push({ path, message: 'must be an object' })
    return undefined
  }
  const before = errors.length
  const { id, role, name } = read(
    value,
    { id: textField, role: oneOfField(...roles) },
    { name: textField },
    `${path}.`,
    errors,
  )
  if (role === undefined) return undefined
  const parts = readers[role](camel(value), path, errors, calls)
  if (errors.length > before) return undefined
  return { id, role, parts, ...(name === undefined ? {} : { name }) }
}

type Reader = (
  value: Readonly<Record<string, unknown>>,
  path: string,
  errors: FieldError[],
  calls: ToolNames,
) => readonly AdkPart[]

const plain: Reader = (value, path, errors) => {
  const content = textField(value.content, `${path}.content`, errors)
  return content === undefined ? [] : [{ text: content, ...signature(value) }]
}
const readers: Readonly<Record<Role, Reader>> = {
  system: plain,
  developer: plain,
  user: (value, path, errors) => contentParts(value.content, `${path}.content`, errors) ?? [],
  assistant(value, path, errors, calls) {
    const said = assistantText(value.content, `${path}.content`, errors)
    const made = listField(toolCall)(value.toolCalls ?? [], `${path}.toolCalls`, errors) ?? []
    for (const { functionCall } of made)
      if (functionCall?.id !== undefined) calls.set(functionCall.id, functionCall.name)
    return said === '' ? made : [{ text: said, ...signature(value) }, ...made]
  },
  tool(value, path, errors, calls) {
    const id = textField(value.toolCallId, `${path}.toolCallId`, errors) ?? ''
    const parts = contentParts(value.content, `${path}.content`, errors)
    if (parts === undefined) return []
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
  activity(value, path, errors) {
    object(value.content, `${path}.content`, errors)
    textField(value.activityType, `${path}.activityType`, errors)
    return []
  },
  reasoning: (value, path, errors) => plain(value, path, errors, new Map()).map((part) => ({ ...part, thought: true })),
}

/** An assistant's content is text or absent; some 0.x peers send parts all the same. */
function assistantText(content: unknown, path: string, errors: FieldError[]): string {
  if (content === undefined || content === null) return ''
  return (contentParts(content, path, errors) ?? []).map((part) => part.text ?? '').join('')
}

const toolCall: Check<AdkPart> = (value, path, errors) => {
  if (!isObject(value)) {
    errors.push({ path, message: 'must be an object' })
    return undefined
  }
  const called = read(value, { id: textField, function: object }, {}, `${path}.`, errors)
  if (called.function === undefined) return undefined
  const { name, arguments: given } = read(
    called.function,
    { name: textField, arguments: textField },
    {},
    `${path}.function.`,
    errors,
  )
  return { functionCall: { id: called.id, name, ...callArguments(given ?? '') }, ...signature(camel(value)) }
}

export interface CallArguments {
  readonly args?: JsonObject
  readonly argsText?: string
  readonly argsError?: string
}

/**
 * The arguments of a call: parsed, and their text as well where printing them again would not give it back. Text that
 * is no JSON object stays text and says so: without `args`, so that nothing takes it for a call without arguments.
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
function camel(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const found = Object.keys(value).filter((key) => Object.hasOwn(snake, key))
  if (found.length === 0) return value
  return { ...value, ...Object.fromEntries(found.map((key) => [snake[key], value[key]])) }
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

/** The fields that are kept but not read are what 1.0 wants them to be. */
export function isClean(value: unknown): boolean {
  if (!isObject(value)) return true
  if (Object.values(value).includes(null)) return false
  const errors: FieldError[] = []
  read(value, {}, kept, '', errors)
  return errors.length === 0
}
const kept = {
  metadata: object,
  encryptedValue: textField,
  subagentRunId: textField,
  id: textField,
  mimeType: textField,
  provider: textField,
  error: textField,
}

/** A message of a run's input as AG-UI has it; several when it carries the results of several tools. */
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

/** The text of a call's arguments: as it came, else printed. */
export function argumentText({ args, argsText }: { readonly args?: unknown; readonly argsText?: unknown }): string {
  if (typeof argsText === 'string') return argsText
  return isObject(args) ? print(args as JsonObject) : '{}'
}

export function partsIn(value: unknown): readonly AdkPart[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function str(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
