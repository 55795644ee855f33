import type { LlmResponse } from '@google/adk'
import { isObject } from '@millrace/core'
import type OpenAI from 'openai'
import { finish } from './finish.ts'
import { readToolArgs } from './tool-args.ts'

type Chunk = OpenAI.Chat.Completions.ChatCompletionChunk
type Completion = OpenAI.Chat.Completions.ChatCompletion
type Parts = NonNullable<NonNullable<LlmResponse['content']>['parts']>

interface OpenCall {
  /** As the server sent it: pieces of the same call have the same index. */
  readonly index: number | undefined
  readonly id: string
  name: string
  args: string
}

/** One model turn of a chat stream: deltas become partials, and the end one aggregate, which ADK stores. */
export class ChatTurn {
  readonly #calls: OpenCall[] = []
  #text = ''
  #thought = ''
  #reason: string | undefined
  #version: string
  #usage: OpenAI.CompletionUsage | undefined

  constructor(model: string) {
    this.#version = model
  }

  /** A partial never has function calls: ADK would run them, and again in the aggregate. */
  *chunk(chunk: Chunk): Generator<LlmResponse, void> {
    if (chunk.model) this.#version = chunk.model
    if (chunk.usage) this.#usage = chunk.usage
    const choice = chunk.choices?.[0]
    if (choice === undefined) return
    if (choice.finish_reason) this.#reason = choice.finish_reason
    for (const call of choice.delta?.tool_calls ?? []) addCall(this.#calls, call)
    const parts = this.#take(choice.delta)
    if (parts.length > 0) yield { content: { role: 'model', parts }, partial: true }
  }

  whole(completion: Completion): void {
    if (completion.model) this.#version = completion.model
    if (completion.usage) this.#usage = completion.usage
    const choice = completion.choices?.[0]
    this.#reason = choice?.finish_reason
    this.#take(choice?.message)
    for (const call of choice?.message.tool_calls ?? []) {
      // Some servers omit the type; the other kind of call has no function.
      if ('function' in call) addCall(this.#calls, { ...call, index: this.#calls.length })
    }
  }

  end(): LlmResponse {
    const base: LlmResponse = {
      modelVersion: this.#version,
      ...(this.#usage === undefined ? {} : { usageMetadata: usageOf(this.#usage) }),
    }
    if (this.#reason === undefined) {
      return { ...base, errorCode: 'TRUNCATED', errorMessage: "the model's answer broke off before its end" }
    }
    if (this.#reason === 'content_filter') {
      const errorMessage = 'the content filter refused the answer'
      return { ...base, ...finish('SAFETY'), errorCode: 'SAFETY', errorMessage }
    }
    const cut = this.#reason === 'length'
    if (cut && this.#text === '' && this.#calls.length === 0) {
      const errorMessage = 'the token limit was reached before the answer began; raise maxOutputTokens'
      return { ...base, ...finish('MAX_TOKENS'), errorCode: 'MAX_TOKENS', errorMessage }
    }
    if (this.#calls.some(({ name }) => name === '')) {
      const errorMessage = 'the model called a tool without a name'
      return { ...base, errorCode: 'MALFORMED_FUNCTION_CALL', errorMessage }
    }
    const parts: Parts = []
    if (this.#thought !== '') parts.push({ text: this.#thought, thought: true })
    if (this.#text !== '') parts.push({ text: this.#text })
    for (const { name, args } of this.#calls) parts.push({ functionCall: { name, ...readToolArgs(args) } })
    return {
      ...base,
      ...finish(cut ? 'MAX_TOKENS' : 'STOP'),
      ...(parts.length === 0 ? {} : { content: { role: 'model', parts } }),
    }
  }

  #take(delta: unknown): Parts {
    const thought = reasoningOf(delta)
    const text = isObject(delta) ? textOf(delta.content) : ''
    this.#thought += thought
    this.#text += text
    return [...(thought === '' ? [] : [{ text: thought, thought: true }]), ...(text === '' ? [] : [{ text }])]
  }
}

interface CallPiece {
  readonly index?: number
  readonly id?: string
  readonly function?: { readonly name?: string; readonly arguments?: unknown }
}

/**
 * The name and id come in the first piece, the arguments in many. Some servers send no index: then each piece is a whole
 * call. Some count from 1, some give every call the index 0 (Ollama), some repeat the name in every piece.
 */
function addCall(calls: OpenCall[], { index, id = '', function: piece = {} }: CallPiece): void {
  const isSame = (call: OpenCall): boolean => call.index === index && (id === '' || call.id === '' || call.id === id)
  let call = index === undefined ? undefined : calls.findLast(isSame)
  if (call === undefined) {
    call = { index, id, name: '', args: '' }
    calls.push(call)
  }
  if (call.name === '') call.name = piece.name ?? ''
  const args = piece.arguments ?? ''
  call.args += typeof args === 'string' ? args : JSON.stringify(args)
}

/** Text, or (Mistral) a list of parts of which some are text. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  return parts.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('')
}

/** DeepSeek and vLLM call it `reasoning_content`, Ollama and OpenRouter `reasoning`. */
function reasoningOf(delta: unknown): string {
  if (!isObject(delta)) return ''
  const { reasoning_content: content, reasoning } = delta
  if (typeof content === 'string') return content
  return typeof reasoning === 'string' ? reasoning : ''
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
