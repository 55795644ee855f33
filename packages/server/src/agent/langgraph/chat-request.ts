import type { LlmRequest } from '@google/adk'
import type { BindToolsInput } from '@langchain/core/language_models/chat_models'
import type { BaseMessage } from '@langchain/core/messages'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { type AdkPart, isObject } from '@millrace/core'
import { messageParts } from '../langchain-message.ts'

export interface ChatRequestOptions {
  readonly tools?: readonly BindToolsInput[]
  /** As LangChain writes it: `auto`, `any`, `none`, or the name of a tool. */
  readonly tool_choice?: unknown
  readonly stop?: string[]
}

/** The messages and options of a LangChain call as the request of an ADK model. */
export function chatRequest(messages: readonly BaseMessage[], options: ChatRequestOptions): LlmRequest {
  const system = messages.filter((message) => message.getType() === 'system').map((message) => message.text)
  const names = callNames(messages)
  const contents = messages.filter((message) => message.getType() !== 'system').map((one) => contentOf(one, names))
  const declarations = (options.tools ?? []).map((tool) => {
    const { function: declared } = convertToOpenAITool(tool as never)
    return { name: declared.name, description: declared.description ?? '', parametersJsonSchema: declared.parameters }
  })
  return {
    contents,
    config: {
      ...(system.length === 0 ? {} : { systemInstruction: system.join('\n\n') }),
      ...(declarations.length === 0 ? {} : { tools: [{ functionDeclarations: declarations }] }),
      ...(options.stop === undefined ? {} : { stopSequences: options.stop }),
      ...toolConfig(options.tool_choice),
    },
    liveConnectConfig: {},
    toolsDict: {},
  } as unknown as LlmRequest
}

function toolConfig(choice: unknown): object {
  if (typeof choice !== 'string' || choice === 'auto') return {}
  if (choice === 'none') return { toolConfig: { functionCallingConfig: { mode: 'NONE' } } }
  const named = choice === 'any' || choice === 'required' ? {} : { allowedFunctionNames: [choice] }
  return { toolConfig: { functionCallingConfig: { mode: 'ANY', ...named } } }
}

/** The name of each call by its id: a ToolMessage need not repeat the name, but some models need it. */
function callNames(messages: readonly BaseMessage[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) => messageParts(message).parts.flatMap((part) => part.functionCall ?? []))
  return new Map(calls.flatMap(({ id, name }) => (id === undefined ? [] : [[id, name] as const])))
}

function contentOf(message: BaseMessage, names: ReadonlyMap<string, string>) {
  if (message.getType() === 'tool') {
    const { tool_call_id: id = '', name, content } = message as BaseMessage & { tool_call_id?: string }
    const functionResponse = { id, name: name ?? names.get(id) ?? '', response: responseOf(content) }
    return { role: 'user', parts: [{ functionResponse }] }
  }
  const { parts } = messageParts(message)
  if (message.getType() !== 'ai') return { role: 'user', parts: [...parts, ...mediaParts(message.content)] }
  const thoughts = thoughtsOf(message)
  const rest = thoughts.length === 0 ? parts : parts.filter(({ thought }) => thought !== true)
  return { role: 'model', parts: [...thoughts, ...rest] }
}

/** Where a message keeps the thoughts of its model with their signatures, which go back to the model as they came. */
export const thoughtsKey = 'millrace_thoughts'

function thoughtsOf({ additional_kwargs: more }: BaseMessage): readonly AdkPart[] {
  const kept: unknown = more[thoughtsKey]
  return Array.isArray(kept) ? kept.filter((part): part is AdkPart => isObject(part) && part.thought === true) : []
}

/** Images and files, in the forms of OpenAI and of LangChain's own blocks, old and new. */
function mediaParts(content: unknown): readonly AdkPart[] {
  return (Array.isArray(content) ? content : []).flatMap((block) => (isObject(block) ? mediaPart(block) : []))
}

function mediaPart(block: Readonly<Record<string, unknown>>): readonly AdkPart[] {
  if (block.type === 'image_url') {
    const url = isObject(block.image_url) ? block.image_url.url : block.image_url
    return typeof url === 'string' ? [urlPart(url, 'image/*')] : []
  }
  if (block.type !== 'image' && block.type !== 'file' && block.type !== 'audio') return []
  const mimeType = String(block.mimeType ?? block.mime_type ?? (block.type === 'image' ? 'image/*' : ''))
  if (typeof block.data === 'string') return [{ inlineData: { mimeType, data: block.data } }]
  return typeof block.url === 'string' ? [urlPart(block.url, mimeType)] : []
}

function urlPart(url: string, mimeType: string): AdkPart {
  const [, type, data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? []
  if (type !== undefined && data !== undefined) return { inlineData: { mimeType: type, data } }
  return { fileData: { fileUri: url, mimeType } }
}

function responseOf(content: unknown): object {
  try {
    const value: unknown = typeof content === 'string' ? JSON.parse(content) : content
    return isObject(value) ? value : { result: value }
  } catch {
    return { result: content }
  }
}
