import type Anthropic from '@anthropic-ai/sdk'
import type { LlmResponse } from '@google/adk'
import { isObject } from '@millrace/core'
import { finish } from './finish.ts'
import { sealRedaction, sealThought } from './thought-seal.ts'
import { readToolArgs } from './tool-args.ts'

type Parts = NonNullable<NonNullable<LlmResponse['content']>['parts']>
type Counts = Partial<Omit<Anthropic.Messages.MessageDeltaUsage, 'server_tool_use'>>

/** One block of the answer, in the order of their indices. */
type OpenBlock =
  | { readonly kind: 'text'; text: string }
  | { readonly kind: 'thinking'; text: string; signature: string }
  | { readonly kind: 'redacted'; readonly data: string }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; args: string }

/** One model turn of the Messages API: deltas become partials, and the end one aggregate, which ADK stores. */
export class AnthropicTurn {
  readonly #blocks = new Map<number, OpenBlock>()
  readonly #report: (message: string) => void
  #reason: string | undefined
  #explanation: string | undefined
  #ended = false
  #version: string
  #usage: Counts = {}

  constructor(model: string, report: (message: string) => void = () => undefined) {
    this.#version = model
    this.#report = report
  }

  /**
   * A partial never has function calls: ADK would run them, and again in the aggregate. The vendor adds events and
   * deltas over time and asks clients to pass over unknown ones; they are reported.
   */
  *event(event: unknown): Generator<LlmResponse, void> {
    if (!isObject(event)) return this.#skip(event)
    switch (event.type) {
      case 'message_start':
        if (isObject(event.message)) this.#begin(event.message)
        return
      case 'content_block_start':
        yield* this.#open(event)
        return
      case 'content_block_delta':
        yield* this.#delta(event)
        return
      case 'message_delta':
        if (isObject(event.usage)) this.#count(event.usage)
        if (isObject(event.delta)) this.#stop(event.delta)
        return
      case 'message_stop':
        this.#ended = true
        return
      case 'content_block_stop':
      case 'ping':
        return
      default:
        this.#skip(event)
    }
  }

  whole(message: Anthropic.Messages.Message): void {
    this.#begin({ ...message })
    this.#stop({ ...message })
    this.#ended = true
    for (const [index, block] of message.content.entries()) {
      for (const _ of this.#open({ index, content_block: block }));
    }
  }

  end(): LlmResponse {
    const base: LlmResponse = { modelVersion: this.#version, ...usageOf(this.#usage) }
    if (!this.#ended || this.#reason === undefined) {
      return { ...base, errorCode: 'TRUNCATED', errorMessage: "the model's answer broke off before its end" }
    }
    if (this.#reason === 'refusal') {
      const errorMessage = this.#explanation ?? 'the model refused to answer'
      return { ...base, ...finish('SAFETY'), errorCode: 'SAFETY', errorMessage }
    }
    const cut = this.#reason === 'max_tokens' || this.#reason === 'model_context_window_exceeded'
    const parts = [...this.#blocks].sort(([a], [b]) => a - b).flatMap(([, block]) => partOf(block))
    if (cut && parts.every(({ thought }) => thought === true)) {
      const errorMessage =
        this.#reason === 'max_tokens'
          ? 'the token limit was reached before the answer began; raise maxOutputTokens'
          : 'the conversation fills the context window of the model; begin a new session or use a larger model'
      return { ...base, ...finish('MAX_TOKENS'), errorCode: 'MAX_TOKENS', errorMessage }
    }
    return {
      ...base,
      ...finish(cut ? 'MAX_TOKENS' : 'STOP'),
      ...(parts.length === 0 ? {} : { content: { role: 'model', parts } }),
    }
  }

  #begin(message: Readonly<Record<string, unknown>>): void {
    if (typeof message.model === 'string' && message.model !== '') this.#version = message.model
    if (isObject(message.usage)) this.#count(message.usage)
  }

  #stop({ stop_reason: reason, stop_details: details }: Readonly<Record<string, unknown>>): void {
    if (typeof reason === 'string') this.#reason = reason
    if (isObject(details) && typeof details.explanation === 'string') this.#explanation = details.explanation
  }

  /** The counts are cumulative: a later one replaces an earlier one, but null does not. */
  #count(usage: Readonly<Record<string, unknown>>): void {
    const known = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined)
    this.#usage = { ...this.#usage, ...(Object.fromEntries(known) as Counts) }
  }

  *#open(event: Readonly<Record<string, unknown>>): Generator<LlmResponse, void> {
    const block = isObject(event.content_block) ? openBlock(event.content_block) : undefined
    if (block === undefined || typeof event.index !== 'number') return this.#skip(event)
    this.#blocks.set(event.index, block)
    if (block.kind === 'text' && block.text !== '') yield partial({ text: block.text })
    if (block.kind === 'thinking' && block.text !== '') yield partial({ text: block.text, thought: true })
  }

  *#delta(event: Readonly<Record<string, unknown>>): Generator<LlmResponse, void> {
    const block = this.#blocks.get(Number(event.index))
    const delta = isObject(event.delta) ? event.delta : {}
    const { type, text, thinking, signature, partial_json: json } = delta
    if (block?.kind === 'text' && type === 'text_delta' && typeof text === 'string') {
      block.text += text
      if (text !== '') yield partial({ text })
    } else if (block?.kind === 'thinking' && type === 'thinking_delta' && typeof thinking === 'string') {
      block.text += thinking
      if (thinking !== '') yield partial({ text: thinking, thought: true })
    } else if (block?.kind === 'thinking' && type === 'signature_delta' && typeof signature === 'string') {
      block.signature += signature
    } else if (block?.kind === 'call' && type === 'input_json_delta' && typeof json === 'string') {
      block.args += json
    } else if (type !== 'citations_delta') this.#skip(event)
  }

  #skip(event: unknown): void {
    const text = JSON.stringify(event) ?? String(event)
    this.#report(`the model sent a chunk that cannot be read; it was skipped: ${text.slice(0, 500)}`)
  }
}

function partial(part: Parts[number]): LlmResponse {
  return { content: { role: 'model', parts: [part] }, partial: true }
}

function openBlock(block: Readonly<Record<string, unknown>>): OpenBlock | undefined {
  const { type, text = '', thinking = '', signature = '', data, id, name, input } = block
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text }
  if (type === 'thinking' && typeof thinking === 'string' && typeof signature === 'string') {
    return { kind: 'thinking', text: thinking, signature }
  }
  if (type === 'redacted_thinking' && typeof data === 'string') return { kind: 'redacted', data }
  if (type !== 'tool_use' || typeof name !== 'string' || name === '') return undefined
  // A stream begins with an empty input and sends it in pieces; without a stream it is whole.
  const args = isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : ''
  return { kind: 'call', id: typeof id === 'string' ? id : '', name, args }
}

function partOf(block: OpenBlock): Parts {
  switch (block.kind) {
    case 'text':
      return block.text === '' ? [] : [{ text: block.text }]
    case 'thinking': {
      const sealed = block.signature === '' ? {} : { thoughtSignature: sealThought(block.signature) }
      return [{ text: block.text, thought: true, ...sealed }]
    }
    case 'redacted':
      return [{ text: '', thought: true, thoughtSignature: sealRedaction(block.data) }]
    case 'call': {
      const { id, name, args } = block
      return [{ functionCall: { ...(id === '' ? {} : { id }), name, ...readToolArgs(args) } }]
    }
  }
}

/** Gemini counts cached tokens inside the prompt and thoughts apart; Anthropic does the opposite. */
function usageOf(usage: Counts): Pick<LlmResponse, 'usageMetadata'> {
  if (usage.input_tokens === undefined && usage.output_tokens === undefined) return {}
  const cached = usage.cache_read_input_tokens ?? 0
  const prompt = (usage.input_tokens ?? 0) + cached + (usage.cache_creation_input_tokens ?? 0)
  const output = usage.output_tokens ?? 0
  const thoughts = usage.output_tokens_details?.thinking_tokens ?? 0
  return {
    usageMetadata: {
      promptTokenCount: prompt,
      candidatesTokenCount: output - thoughts,
      totalTokenCount: prompt + output,
      ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
      ...(cached > 0 ? { cachedContentTokenCount: cached } : {}),
    },
  }
}
