import * as messages from '@langchain/core/messages'
import { isObject } from '@millrace/core'
import { isMessageName, type MessageName, messageFields } from './message-fields.ts'

const answer = { content: '', tool_call_id: '' }
const called = { content: '', name: '' }
const spoken = { content: '', role: '' }

/** The classes of messages that a checkpoint may hold. No other class is ever made from one. */
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
 * A message with these fields; undefined where there is no such message. The constructor gets nothing of the data: some
 * parse what they get, and print or throw. The fields are set afterwards, only those of the table.
 */
export function messageOf(name: unknown, data: unknown): object | undefined {
  if (!isMessageName(name) || !isObject(data)) return undefined
  const message = table[name]()
  const given = messageFields[name].filter((field) => Object.hasOwn(data, field))
  const fields = Object.fromEntries(given.map((field) => [field, data[field]]))
  Object.assign(message, fields)
  // LangChain prints a message by the names it finds here.
  Reflect.set(message, 'lc_kwargs', { ...fields })
  return message
}
