import { Gemini, type LlmRequest, type LlmResponse } from '@google/adk'
import { finish } from './finish.ts'
import { retryingFetch } from './retrying-fetch.ts'
import type { ModelSettings } from './settings.ts'

type HttpOptions = ReturnType<Gemini['getHttpOptions']>

/** ADK's Gemini, with the retries its SDK lacks, and with the calls of one turn kept together. */
export class GeminiLlm extends Gemini {
  readonly #settings: ModelSettings
  constructor(model: string, apiKey: string, settings: ModelSettings) {
    super({ model, apiKey, vertexai: false })
    this.#settings = settings
  }

  protected override getHttpOptions(): HttpOptions {
    const { googleBaseUrl, fetch = globalThis.fetch, attempts = 4 } = this.#settings
    return {
      ...super.getHttpOptions(),
      ...(googleBaseUrl === undefined ? {} : { baseUrl: googleBaseUrl }),
      fetch: retryingFetch(fetch, { attempts }),
    }
  }

  /**
   * ADK yields each chunk's calls as an event of its own and runs them before it reads on: calls of one turn would run
   * one after the other. Held back to the end they are one event, as without streaming, and run in parallel.
   */
  override async *generateContentAsync(
    request: LlmRequest,
    stream = false,
    signal?: AbortSignal,
  ): AsyncGenerator<LlmResponse, void> {
    let whole: LlmResponse | undefined
    for await (const response of super.generateContentAsync(request, stream, signal)) {
      if (response.partial === true) yield response
      else whole = whole === undefined ? response : join(whole, response)
    }
    if (whole !== undefined && stream && isCut(whole)) {
      whole = { ...whole, errorCode: 'TRUNCATED', errorMessage: "the model's answer broke off before its end" }
    }
    if (whole !== undefined) yield { ...settled(whole), partial: false, modelVersion: whole.modelVersion ?? this.model }
  }
}

function join(before: LlmResponse, after: LlmResponse): LlmResponse {
  const parts = [...(before.content?.parts ?? []), ...(after.content?.parts ?? [])]
  return { ...before, ...defined(after), ...(parts.length === 0 ? {} : { content: { role: 'model', parts } }) }
}

/** ADK makes an error of an answer cut at the token limit when it streams, and not when it does not. */
function settled(response: LlmResponse): LlmResponse {
  const { errorCode, errorMessage: _, ...rest } = response
  if (errorCode === undefined) return response
  if ((response.content?.parts?.length ?? 0) > 0 && errorCode === 'MAX_TOKENS') {
    return { ...rest, ...finish('MAX_TOKENS') }
  }
  return response
}

/** Text without a reason for its end: a proxy cut the stream cleanly. Calls are whole, and ADK drops their reason. */
function isCut({ finishReason, errorCode, content }: LlmResponse): boolean {
  if (finishReason !== undefined || errorCode !== undefined) return false
  return content?.parts?.some(({ functionCall }) => functionCall !== undefined) !== true
}

function defined(response: LlmResponse): LlmResponse {
  return Object.fromEntries(Object.entries(response).filter(([, value]) => value !== undefined))
}
