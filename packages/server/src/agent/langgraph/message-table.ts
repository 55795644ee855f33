import * as messages from '@langchain/core/messages'
import { isObject } from '@millrace/core'

// The messages that a checkpoint may hold: which class makes each, and which of its fields are data to keep.

type Fields = Record<string, unknown>
interface Made {
  readonly make: () => object
  readonly fields: readonly string[]
}

const common = ['id', 'name', 'content', 'additional_kwargs', 'response_metadata']
const ai = [...common, 'tool_calls', 'invalid_tool_calls', 'usage_metadata']
const tool = [...common, 'tool_call_id', 'status', 'artifact', 'metadata']
const empty = { content: '' }
const answer = { content: '', tool_call_id: '' }
const called = { content: '', name: '' }
const spoken = { content: '', role: '' }

const table: ReadonlyMap<string, Made> = new Map<string, Made>([
  ['HumanMessage', { make: () => new messages.HumanMessage({ ...empty }), fields: common }],
  ['HumanMessageChunk', { make: () => new messages.HumanMessageChunk({ ...empty }), fields: common }],
  ['SystemMessage', { make: () => new messages.SystemMessage({ ...empty }), fields: common }],
  ['SystemMessageChunk', { make: () => new messages.SystemMessageChunk({ ...empty }), fields: common }],
  ['AIMessage', { make: () => new messages.AIMessage({ ...empty }), fields: ai }],
  ['AIMessageChunk', { make: () => new messages.AIMessageChunk({ ...empty }), fields: [...ai, 'tool_call_chunks'] }],
  ['ToolMessage', { make: () => new messages.ToolMessage({ ...answer }), fields: tool }],
  ['ToolMessageChunk', { make: () => new messages.ToolMessageChunk({ ...answer }), fields: tool }],
  ['FunctionMessage', { make: () => new messages.FunctionMessage({ ...called }), fields: common }],
  ['FunctionMessageChunk', { make: () => new messages.FunctionMessageChunk({ ...called }), fields: common }],
  ['ChatMessage', { make: () => new messages.ChatMessage({ ...spoken }), fields: [...common, 'role'] }],
  ['ChatMessageChunk', { make: () => new messages.ChatMessageChunk({ ...spoken }), fields: [...common, 'role'] }],
  ['RemoveMessage', { make: () => new messages.RemoveMessage({ id: '' }), fields: common }],
])

/** The class for a message that an author derived from one of these: by what LangChain calls its type. */
const byType: Readonly<Record<string, string>> = {
  human: 'HumanMessage',
  system: 'SystemMessage',
  developer: 'SystemMessage',
  ai: 'AIMessage',
  tool: 'ToolMessage',
  function: 'FunctionMessage',
  generic: 'ChatMessage',
  remove: 'RemoveMessage',
}

/** By shape, not by class: a graph may bring its own copy of the library. */
export function isMessage(value: object): value is { getType(): string } {
  return 'getType' in value && typeof value.getType === 'function' && 'lc_kwargs' in value && 'content' in value
}

/** The name and the data of a message; undefined for one of no type we know. */
export function messageData(message: { getType(): string }): { name: string; fields: Fields } | undefined {
  const type = message.getType()
  const known: unknown = Reflect.get(message.constructor, 'lc_name')
  const own: unknown = typeof known === 'function' ? known.call(message.constructor) : undefined
  const name = typeof own === 'string' && table.has(own) ? own : Object.hasOwn(byType, type) ? byType[type] : undefined
  const kept = name === undefined ? undefined : table.get(name)?.fields
  if (name === undefined || kept === undefined) return undefined
  const fields: Fields = {}
  for (const field of kept) {
    const value: unknown = Reflect.get(message, field)
    if (value !== undefined) fields[field] = value
  }
  return { name, fields }
}

/**
 * A message with these fields; undefined where there is no such message. The constructor gets nothing of the data: some
 * parse what they get, and print or throw. The fields are set afterwards, only those of the table.
 */
export function messageOf(name: unknown, data: unknown): object | undefined {
  const made = typeof name === 'string' ? table.get(name) : undefined
  if (made === undefined || !isObject(data)) return undefined
  const message = made.make()
  const given = made.fields.filter((field) => Object.hasOwn(data, field))
  const fields = Object.fromEntries(given.map((field) => [field, data[field]]))
  Object.assign(message, fields)
  // LangChain prints a message by the names it finds here.
  Reflect.set(message, 'lc_kwargs', { ...fields })
  return message
}
