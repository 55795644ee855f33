// The messages that a state may hold, and which of their fields are data to store. LangChain is not imported here: a
// server without a graph must not load it.

const common = ['id', 'name', 'content', 'additional_kwargs', 'response_metadata']
const ai = [...common, 'tool_calls', 'invalid_tool_calls', 'usage_metadata']
const tool = [...common, 'tool_call_id', 'status', 'artifact', 'metadata']
const chat = [...common, 'role']

/** The fields by LangChain's name of the class. */
export const messageFields = {
  HumanMessage: common,
  HumanMessageChunk: common,
  SystemMessage: common,
  SystemMessageChunk: common,
  AIMessage: ai,
  AIMessageChunk: [...ai, 'tool_call_chunks'],
  ToolMessage: tool,
  ToolMessageChunk: tool,
  FunctionMessage: common,
  FunctionMessageChunk: common,
  ChatMessage: chat,
  ChatMessageChunk: chat,
  RemoveMessage: common,
} as const satisfies Readonly<Record<string, readonly string[]>>

export type MessageName = keyof typeof messageFields

export function isMessageName(name: unknown): name is MessageName {
  return typeof name === 'string' && Object.hasOwn(messageFields, name)
}

/** The class by LangChain's message type, for messages whose class an author derived from one of these. */
const byType: ReadonlyMap<string, MessageName> = new Map([
  ['human', 'HumanMessage'],
  ['system', 'SystemMessage'],
  ['developer', 'SystemMessage'],
  ['ai', 'AIMessage'],
  ['tool', 'ToolMessage'],
  ['function', 'FunctionMessage'],
  ['generic', 'ChatMessage'],
  ['remove', 'RemoveMessage'],
])

/** The class for a message type, as JSON of a message names it. */
export function messageName(type: unknown): MessageName | undefined {
  return typeof type === 'string' ? byType.get(type) : undefined
}

/** Recognised by shape, not by class: a graph may bring its own copy of the library. */
export function isMessage(value: object): value is { getType(): string } {
  return 'getType' in value && typeof value.getType === 'function' && 'lc_kwargs' in value && 'content' in value
}

export interface MessageData {
  readonly name: MessageName
  readonly fields: Readonly<Record<string, unknown>>
}

/** The class name and the data of a message; undefined for an unknown type. */
export function messageData(message: { getType(): string }): MessageData | undefined {
  const known: unknown = Reflect.get(message.constructor, 'lc_name')
  const own: unknown = typeof known === 'function' ? known.call(message.constructor) : undefined
  const name = isMessageName(own) ? own : messageName(message.getType())
  if (name === undefined) return undefined
  const fields: Record<string, unknown> = {}
  for (const field of messageFields[name]) {
    const value: unknown = Reflect.get(message, field)
    if (value !== undefined) fields[field] = value
  }
  return { name, fields }
}
