import * as messages from '@langchain/core/messages'
import { isObject } from '@millrace/core'
import { isMessageName, type MessageName, messageFields } from './message-fields.ts'

const answer = { content: '', tool_call_id: '' }
const called = { content: '', name: '' }
const spoken = { content: '', role: '' }

/** The message classes that a checkpoint may hold. A checkpoint never creates an object of another message class. */
const table: Readonly<Record<MessageName, () => object>> = {
  HumanMessage: () => new messages.HumanMessage({ content: '' }),
  HumanMessageChunk: () => new messages.HumanMessageChunk({ content: '' }),
  SystemMessage: () => new messages.SystemMessage({ content: '' }),
  SystemMessageChunk: () => new messages.SystemMessageChunk({ content: '' }),
  AIMessage: () => new messages.AIMessage({ content: '' }),
  AIMessageChunk: () => new messages.AIMessageChunk({ content: '' }),
  ToolMessage: () => new messages.ToolMessage({ ...answer }),
  ToolMessageChunk: () => new messages.ToolMessageChunk({ ...answer }),
  FunctionMessage: () => new messages.FunctionMessage({ ...called }),
  FunctionMessageChunk: () => new messages.FunctionMessageChunk({ ...called }),
  ChatMessage: () => new messages.ChatMessage({ ...spoken }),
  ChatMessageChunk: () => new messages.ChatMessageChunk({ ...spoken }),
  RemoveMessage: () => new messages.RemoveMessage({ id: '' }),
}

/**
 * A message with these fields; undefined for an unknown class. The constructor gets none of the data, because some
 * constructors parse it, and print or throw. The fields are set afterwards, and only those of the table.
 */
export function restoredMessage(name: unknown, data: unknown): object | undefined {
  if (!isMessageName(name) || !isObject(data)) return undefined
  const message = table[name]()
  const given = messageFields[name].filter((field) => Object.hasOwn(data, field))
  const fields = Object.fromEntries(given.map((field) => [field, data[field]]))
  Object.assign(message, fields)
  // LangChain prints the fields of a message that it finds here.
  Reflect.set(message, 'lc_kwargs', { ...fields })
  return message
}
