import type { LlmResponse } from '@google/adk'
import { AIMessageChunk, type AIMessageChunkFields } from '@langchain/core/messages'
import { thoughtsKey } from './chat-request.ts'

/**
 * A delta. The content stays a string, as most graphs expect it; thoughts are in `reasoning_content`, where LangChain's
 * own models put them.
 */
export function partialChunk({ content }: LlmResponse): AIMessageChunk | undefined {
  const parts = content?.parts ?? []
  const said = parts.map(({ thought, text = '' }) => (thought === true ? '' : text)).join('')
  const thought = parts.map(({ thought: isThought, text = '' }) => (isThought === true ? text : '')).join('')
  if (said === '' && thought === '') return undefined
  return new AIMessageChunk({
    content: said,
    ...(thought === '' ? {} : { additional_kwargs: { reasoning_content: thought } }),
  })
}

/** What only the end of an answer tells: the calls, the tokens, the model, and why it stopped. */
export function lastChunk({ content, usageMetadata, modelVersion, finishReason }: LlmResponse): AIMessageChunk {
  const parts = content?.parts ?? []
  const signed = parts.filter(({ thought, thoughtSignature }) => thought === true && thoughtSignature !== undefined)
  const fields = {
    content: '',
    tool_call_chunks: parts.flatMap(({ functionCall }, index) => callChunk(functionCall, index)),
    ...(signed.length === 0 ? {} : { additional_kwargs: { [thoughtsKey]: signed } }),
    response_metadata: {
      ...(modelVersion === undefined ? {} : { model_name: modelVersion }),
      ...(finishReason === undefined ? {} : { finish_reason: String(finishReason) }),
    },
    ...(usageMetadata === undefined ? {} : { usage_metadata: langChainUsage(usageMetadata) }),
  }
  return new AIMessageChunk(fields as unknown as AIMessageChunkFields)
}

/** LangChain counts reasoning among the output, and names what is part of a count. */
export function langChainUsage(usage: NonNullable<LlmResponse['usageMetadata']>) {
  const { promptTokenCount: input = 0, candidatesTokenCount: output = 0, thoughtsTokenCount: thoughts = 0 } = usage
  const { cachedContentTokenCount: cached = 0, totalTokenCount: total = input + output + thoughts } = usage
  return {
    input_tokens: input,
    output_tokens: output + thoughts,
    total_tokens: total,
    ...(cached > 0 ? { input_token_details: { cache_read: cached } } : {}),
    ...(thoughts > 0 ? { output_token_details: { reasoning: thoughts } } : {}),
  }
}

function callChunk(call: { id?: string; name?: string; args?: unknown } | undefined, index: number) {
  if (call?.name === undefined) return []
  return [
    {
      type: 'tool_call_chunk' as const,
      index,
      id: call.id ?? `${call.name}-${index}-${crypto.randomUUID()}`,
      name: call.name,
      args: JSON.stringify(call.args ?? {}),
    },
  ]
}
