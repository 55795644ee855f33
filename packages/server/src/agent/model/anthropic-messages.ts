import type Anthropic from '@anthropic-ai/sdk'
import type { LlmRequest } from '@google/adk'
import { CallNumbers } from './call-numbers.ts'
import { toolJsonSchema } from './json-schema.ts'
import { openSeal } from './thought-seal.ts'

type Content = LlmRequest['contents'][number]
type Part = NonNullable<Content['parts']>[number]
type Block = Anthropic.Messages.ContentBlockParam
type Message = Anthropic.Messages.MessageParam
type Image = Anthropic.Messages.Base64ImageSource

/** ADK's contents as messages. Neighbours of one role are joined: all answers to the calls of a turn must be in one. */
export function anthropicMessages({ contents }: LlmRequest): Message[] {
  const messages: { role: 'user' | 'assistant'; content: Block[] }[] = []
  const calls = new CallNumbers('toolu_')
  for (const { role: from, parts = [] } of contents) {
    const role = from === 'model' ? 'assistant' : 'user'
    const blocks = parts.flatMap((part) => (role === 'user' ? userBlock(part, calls) : modelBlock(part, calls)))
    if (blocks.length === 0) continue
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(...blocks)
    else messages.push({ role, content: blocks })
  }
  // Answers must come before anything else in their message.
  for (const { content } of messages) content.sort((a, b) => Number(isAnswer(b)) - Number(isAnswer(a)))
  return messages
}

const isAnswer = ({ type }: Block): boolean => type === 'tool_result'

function modelBlock({ text, thought, thoughtSignature, functionCall }: Part, calls: CallNumbers): Block[] {
  if (functionCall?.name !== undefined) {
    const { name, args = {} } = functionCall
    return [{ type: 'tool_use', id: calls.made(functionCall), name, input: args }]
  }
  if (thought === true) return thoughtBlock(text ?? '', thoughtSignature)
  // White space alone is refused.
  return text === undefined || text.trim() === '' ? [] : [{ type: 'text', text }]
}

function userBlock(part: Part, calls: CallNumbers): Block[] {
  const { text, inlineData, fileData, functionResponse } = part
  if (functionResponse !== undefined) {
    const id = calls.answered(functionResponse)
    if (id === undefined) return []
    const { response = {} } = functionResponse
    const failed = 'error' in response ? { is_error: true } : {}
    return [{ type: 'tool_result', tool_use_id: id, content: JSON.stringify(response), ...failed }]
  }
  if (typeof text === 'string') return text.trim() === '' ? [] : [{ type: 'text', text }]
  const { mimeType = '', data = '' } = inlineData ?? {}
  if (mimeType.startsWith('image/')) {
    const media_type = mimeType as Image['media_type']
    return [{ type: 'image', source: { type: 'base64', media_type, data } }]
  }
  if (mimeType === 'application/pdf') {
    return [{ type: 'document', source: { type: 'base64', media_type: mimeType, data } }]
  }
  if (mimeType.startsWith('text/') || mimeType === 'application/json') {
    return [{ type: 'text', text: Buffer.from(data, 'base64').toString('utf8') }]
  }
  if (inlineData !== undefined) return [{ type: 'text', text: `[file of the type ${mimeType}, which cannot be sent]` }]
  const url = fileData?.fileUri
  if (url === undefined) return []
  if (fileData?.mimeType?.startsWith('image/')) return [{ type: 'image', source: { type: 'url', url } }]
  if (fileData?.mimeType === 'application/pdf') return [{ type: 'document', source: { type: 'url', url } }]
  return [{ type: 'text', text: `[file: ${url}]` }]
}

/** A thought goes back to the model as it came, or not at all. */
function thoughtBlock(thinking: string, sealed = ''): Block[] {
  const { signature, redacted } = openSeal(sealed)
  if (signature !== undefined) return [{ type: 'thinking', thinking, signature }]
  return redacted === undefined ? [] : [{ type: 'redacted_thinking', data: redacted }]
}

/** The functions that an agent may call, without the tools that only Google's servers have (search, code execution). */
export function anthropicTools(request: LlmRequest): Anthropic.Messages.Tool[] {
  return (request.config?.tools ?? []).flatMap((tool) => {
    const declarations = 'functionDeclarations' in tool ? (tool.functionDeclarations ?? []) : []
    return declarations.flatMap(({ name, description = '', parameters, parametersJsonSchema }) => {
      if (name === undefined) return []
      const schema = toolJsonSchema(parametersJsonSchema ?? parameters)
      return [{ name, description, input_schema: { ...schema, type: 'object' as const } }]
    })
  })
}
