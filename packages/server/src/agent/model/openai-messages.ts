import type { LlmRequest } from '@google/adk'
import type OpenAI from 'openai'
import { CallNumbers } from './call-numbers.ts'
import { toolJsonSchema } from './json-schema.ts'

type Content = LlmRequest['contents'][number]
type Part = NonNullable<Content['parts']>[number]
type Message = OpenAI.Chat.Completions.ChatCompletionMessageParam
type UserPart = OpenAI.Chat.Completions.ChatCompletionContentPart

/** ADK's contents as chat messages. */
export function chatMessages(request: LlmRequest): readonly Message[] {
  const messages: Message[] = []
  const calls = new CallNumbers('call_')
  const { systemInstruction } = request.config ?? {}
  if (typeof systemInstruction === 'string' && systemInstruction !== '') {
    messages.push({ role: 'system', content: systemInstruction })
  }
  for (const { role, parts = [] } of request.contents) {
    if (role === 'model') {
      const made = parts.flatMap(({ functionCall }) => {
        if (functionCall?.name === undefined) return []
        return [
          {
            id: calls.made(functionCall),
            type: 'function' as const,
            function: { name: functionCall.name, arguments: JSON.stringify(functionCall.args ?? {}) },
          },
        ]
      })
      const text = textOf(parts)
      if (made.length > 0) messages.push({ role: 'assistant', content: text === '' ? null : text, tool_calls: made })
      else if (text !== '') messages.push({ role: 'assistant', content: text })
      continue
    }
    for (const { functionResponse } of parts) {
      const id = functionResponse === undefined ? undefined : calls.answered(functionResponse)
      if (id === undefined) continue
      messages.push({ role: 'tool', tool_call_id: id, content: JSON.stringify(functionResponse?.response ?? {}) })
    }
    const asked = parts.flatMap(userPart)
    const [only, ...more] = asked
    if (only === undefined) continue
    messages.push({ role: 'user', content: more.length === 0 && only.type === 'text' ? only.text : asked })
  }
  return messages
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ text, thought }) => (thought === true ? '' : (text ?? ''))).join('')
}

function userPart({ text, inlineData, fileData }: Part): readonly UserPart[] {
  if (typeof text === 'string' && text !== '') return [{ type: 'text', text }]
  const { mimeType = '', data = '' } = inlineData ?? {}
  if (mimeType.startsWith('image/')) {
    return [{ type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } }]
  }
  if (mimeType === 'audio/wav' || mimeType === 'audio/mp3' || mimeType === 'audio/mpeg') {
    return [{ type: 'input_audio', input_audio: { data, format: mimeType === 'audio/wav' ? 'wav' : 'mp3' } }]
  }
  if (mimeType.startsWith('text/') || mimeType === 'application/json') {
    return [{ type: 'text', text: Buffer.from(data, 'base64').toString('utf8') }]
  }
  if (inlineData !== undefined) {
    const filename = inlineData.displayName ?? 'file'
    return [{ type: 'file', file: { filename, file_data: `data:${mimeType};base64,${data}` } }]
  }
  const uri = fileData?.fileUri
  if (uri === undefined) return []
  if (fileData?.mimeType?.startsWith('image/')) return [{ type: 'image_url', image_url: { url: uri } }]
  return [{ type: 'text', text: `[file: ${uri}]` }]
}

/** The functions that an agent may call, without the tools that only Google's servers have (search, code execution). */
export function chatTools(request: LlmRequest): readonly OpenAI.Chat.Completions.ChatCompletionFunctionTool[] {
  return (request.config?.tools ?? []).flatMap((tool) => {
    const declarations = 'functionDeclarations' in tool ? (tool.functionDeclarations ?? []) : []
    return declarations.flatMap(({ name, description = '', parameters, parametersJsonSchema }) =>
      name === undefined
        ? []
        : [
            {
              type: 'function' as const,
              function: { name, description, parameters: toolJsonSchema(parametersJsonSchema ?? parameters) },
            },
          ],
    )
  })
}
