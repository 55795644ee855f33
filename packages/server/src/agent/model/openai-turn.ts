import type { LlmResponse } from '@google/adk'
import { isObject } from '@millrace/core'
import type OpenAI from 'openai'
import { finish } from './finish.ts'

type Chunk = OpenAI.Chat.Completions.ChatCompletionChunk
type Completion = OpenAI.Chat.Completions.ChatCompletion
type Parts = NonNullable<NonNullable<LlmResponse['content']>['parts']>

interface OpenCall {
  name: string
  args: string
}

/** One model turn off a chat stream: deltas out as partials, and at the end the one aggregate that ADK stores. */
export interface ChatTurn {
  chunk(chunk: Chunk): Iterable<LlmResponse>
  whole(completion: Completion): void
  end(): LlmResponse
}

export function chatTurn(model: string): ChatTurn {
  let text = ''
  let thought = ''
  let reason: string | null = null
  let version = model
  let usage: OpenAI.CompletionUsage | null | undefined
  const calls: OpenCall[] = []

  const take = (delta: unknown): readonly Parts[number][] => {
    const made: Parts = []
    const thinking = reasoningOf(delta)
    if (thinking !== '') made.push({ text: thinking, thought: true })
    thought += thinking
    const content = isObject(delta) && typeof delta.content === 'string' ? delta.content : ''
    if (content !== '') made.push({ text: content })
    text += content
    return made
  }

  return {
    *chunk(chunk) {
      if (chunk.model) version = chunk.model
      if (chunk.usage) usage = chunk.usage
      const choice = chunk.choices?.[0]
      if (choice === undefined) return
      if (choice.finish_reason) reason = choice.finish_reason
      for (const call of choice.delta?.tool_calls ?? []) addCall(calls, call)
      const parts = take(choice.delta)
      // Function calls never go out in a partial: ADK would run them, and again in the aggregate.
      if (parts.length > 0) yield { content: { role: 'model', parts: [...parts] }, partial: true }
    },
    whole(completion) {
      version = completion.model || model
      usage = completion.usage
      const choice = completion.choices[0]
      reason = choice?.finish_reason ?? 'stop'
      take(choice?.message)
      for (const call of choice?.message.tool_calls ?? []) {
        if (call.type === 'function') calls.push({ name: call.function.name, args: call.function.arguments })
      }
    },
    end() {
      const parts: Parts = []
      if (thought !== '') parts.push({ text: thought, thought: true })
      if (text !== '') parts.push({ text })
      for (const { name, args } of calls) parts.push({ functionCall: { name, ...readArgs(args) } })
      const base: LlmResponse = {
        modelVersion: version,
        ...(usage ? { usageMetadata: usageOf(usage) } : {}),
      }
      if (reason === null) {
        return { ...base, errorCode: 'TRUNCATED', errorMessage: "the model's stream broke off before its end" }
      }
      if (reason === 'content_filter') {
        return {
          ...base,
          ...finish('SAFETY'),
          errorCode: 'SAFETY',
          errorMessage: 'the content filter refused the answer',
        }
      }
      const cut = reason === 'length'
      if (cut && text === '' && calls.length === 0) {
        const errorMessage = 'the token limit was reached before the answer began; raise maxOutputTokens'
        return { ...base, ...finish('MAX_TOKENS'), errorCode: 'MAX_TOKENS', errorMessage }
      }
      return {
        ...base,
        ...finish(cut ? 'MAX_TOKENS' : 'STOP'),
        ...(parts.length === 0 ? {} : { content: { role: 'model', parts } }),
      }
    },
  }
}

/** The name and id come in the first piece, the arguments in many. Some servers send no index: then each is whole. */
function addCall(calls: OpenCall[], piece: NonNullable<Chunk['choices'][number]['delta']['tool_calls']>[number]): void {
  const index = typeof piece.index === 'number' ? piece.index : calls.length
  calls[index] ??= { name: '', args: '' }
  const call = calls[index]
  call.name += piece.function?.name ?? ''
  call.args += piece.function?.arguments ?? ''
}

/** DeepSeek and vLLM call it `reasoning_content`, Ollama and OpenRouter `reasoning`. */
function reasoningOf(delta: unknown): string {
  if (!isObject(delta)) return ''
  const { reasoning_content: content, reasoning } = delta
  if (typeof content === 'string') return content
  return typeof reasoning === 'string' ? reasoning : ''
}

/** What is not a JSON object is not guessed at: the tool is not run, and the model is told (see turn.ts). */
function readArgs(text: string): { args: Record<string, unknown>; invalidArgs?: string } {
  if (text.trim() === '') return { args: {} }
  try {
    const args: unknown = JSON.parse(text)
    if (isObject(args)) return { args: { ...args } }
  } catch {
    // falls through: not JSON
  }
  return { args: {}, invalidArgs: text }
}

function usageOf(usage: OpenAI.CompletionUsage): NonNullable<LlmResponse['usageMetadata']> {
  const thoughts = usage.completion_tokens_details?.reasoning_tokens ?? 0
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0
  return {
    promptTokenCount: usage.prompt_tokens,
    // Gemini counts thoughts apart, OpenAI inside the completion.
    candidatesTokenCount: usage.completion_tokens - thoughts,
    totalTokenCount: usage.total_tokens,
    ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
    ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
  }
}
