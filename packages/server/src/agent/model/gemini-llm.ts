import { Gemini, type LlmRequest, type LlmResponse } from '@google/adk'
import { defined } from '@millrace/core'
import { streamFailure, vendorRefusal } from './failure.ts'
import { finish } from './finish.ts'
import { modelFetch } from './model-fetch.ts'
import { noStream } from './sdk-llm.ts'
import type { ModelSettings } from './settings.ts'
import { isSealed } from './thought-seal.ts'

type HttpOptions = ReturnType<Gemini['getHttpOptions']>

/** ADK's Gemini, with the retries that its SDK lacks, and with all calls of a turn in one response. */
export class GeminiLlm extends Gemini {
  readonly #settings: ModelSettings
  constructor(model: string, apiKey: string, settings: ModelSettings) {
    super({ model, apiKey, vertexai: false })
    this.#settings = settings
  }

  protected override getHttpOptions(): HttpOptions {
    const { googleBaseUrl } = this.#settings
    return {
      ...super.getHttpOptions(),
      ...defined({ baseUrl: googleBaseUrl }),
      fetch: streamsOnly(modelFetch(this.#settings), googleBaseUrl),
    }
  }

  /**
   * ADK yields the calls of each chunk as a separate event and runs them before it reads on, so the calls of one turn would
   * run one after the other. Collected until the end they are one event, as without streaming, and run in parallel.
   */
  override async *generateContentAsync(
    request: LlmRequest,
    stream = false,
    signal?: AbortSignal,
  ): AsyncGenerator<LlmResponse, void> {
    let whole: LlmResponse | undefined
    try {
      for await (const response of super.generateContentAsync(withOwnThoughts(request), stream, signal)) {
        if (response.partial === true) yield response
        else whole = whole === undefined ? response : join(whole, response)
      }
    } catch (error) {
      const failure = signal?.aborted ? undefined : (noStreamIn(error) ?? streamFailure(error))
      if (failure === undefined) throw signal?.aborted ? error : this.#refused(error)
      yield failure
      return
    }
    if (whole !== undefined && stream && isCut(whole)) {
      whole = { ...whole, errorCode: 'TRUNCATED', errorMessage: "the model's answer broke off before its end" }
    }
    if (whole !== undefined) yield { ...settled(whole), partial: false, modelVersion: whole.modelVersion ?? this.model }
  }

  /** The vendor's own error, in the form in which ADK reads its code and its words. */
  #refused(error: unknown): unknown {
    if (!(error instanceof Error) || error.name !== 'ApiError') return error
    const status: unknown = Reflect.get(error, 'status')
    const { code = status, message = error.message } = vendorError(error.message)
    const called = { model: this.model, key: 'GOOGLE_API_KEY', settings: this.#settings }
    error.message = JSON.stringify({ error: { code, message: vendorRefusal(status, message, called) } })
    return error
  }
}

/** An answer that is no stream of events, where the SDK would look for its frames in vain. */
class NoStreamError extends Error {
  readonly response: LlmResponse
  constructor(response: LlmResponse) {
    super(response.errorMessage)
    this.response = response
  }
}

const noStreamIn = (error: unknown): LlmResponse | undefined => {
  if (error instanceof NoStreamError) return error.response
  return error instanceof Error && error.cause !== undefined ? noStreamIn(error.cause) : undefined
}

function streamsOnly(fetch: typeof globalThis.fetch, baseUrl: string | undefined): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    const url = new URL(input instanceof Request ? input.url : input)
    if (!response.ok || url.searchParams.get('alt') !== 'sse') return response
    // The SDK does not look at the type, so a proxy may have lost it; a page or JSON has no frames.
    if (!/^(?:text\/html|application\/json)\b/.test(response.headers.get('content-type') ?? '')) return response
    const failure = noStream(response, baseUrl ?? url.origin)
    if (failure === undefined) return response
    await response.body?.cancel()
    throw new NoStreamError(failure)
  }
}

/** An error in the middle of a stream has words of the SDK before the vendor's. */
function vendorError(text: string): { readonly code?: unknown; readonly message?: string } {
  try {
    const { error } = JSON.parse(text.replace(/^[^{]*/, '')) as { error?: { code?: unknown; message?: string } }
    return error ?? {}
  } catch {
    return {}
  }
}

/** Without the thoughts that another vendor signed: Gemini refuses signatures that it does not know. */
function withOwnThoughts(request: LlmRequest): LlmRequest {
  const contents = request.contents.map(({ parts = [], ...content }) => ({
    ...content,
    parts: parts.filter(({ thoughtSignature }) => thoughtSignature === undefined || !isSealed(thoughtSignature)),
  }))
  return { ...request, contents: contents.filter(({ parts }) => parts.length > 0) }
}

function join(before: LlmResponse, after: LlmResponse): LlmResponse {
  const parts = [...(before.content?.parts ?? []), ...(after.content?.parts ?? [])]
  return { ...before, ...defined(after), ...(parts.length === 0 ? {} : { content: { role: 'model', parts } }) }
}

/** An answer cut at the token limit is no error. ADK reports one when it streams, but not when it does not. */
function settled(response: LlmResponse): LlmResponse {
  const { errorCode, errorMessage: _, ...rest } = response
  if (errorCode === undefined) return response
  if ((response.content?.parts?.length ?? 0) > 0 && errorCode === 'MAX_TOKENS') {
    return { ...rest, ...finish('MAX_TOKENS') }
  }
  return response
}

/** Text without a finish reason: a proxy cut the stream cleanly. For calls ADK drops the reason, and they are complete. */
function isCut({ finishReason, errorCode, content }: LlmResponse): boolean {
  if (finishReason !== undefined || errorCode !== undefined) return false
  return content?.parts?.some(({ functionCall }) => functionCall !== undefined) !== true
}
