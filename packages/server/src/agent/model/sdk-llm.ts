import { BaseLlm, type LlmRequest, type LlmResponse } from '@google/adk'
import { defined } from '@millrace/core'
import { modelFailure, type SdkErrors } from './failure.ts'
import type { ModelSettings } from './settings.ts'

/** One model call: what an SDK's own request takes beside the body, and the signal that ends the call. */
export interface CallOptions {
  readonly signal?: AbortSignal
}

/** A model behind a provider's own SDK. What every such call shares is here: failures become answers, an abort ends quietly. */
export abstract class SdkLlm extends BaseLlm {
  /** The SDK, whose classes of errors say what went wrong. */
  protected abstract readonly sdk: SdkErrors
  /** The variable that has the key. */
  protected abstract readonly key: string
  protected readonly settings: ModelSettings

  constructor(model: string, settings: ModelSettings) {
    super({ model })
    this.settings = settings
  }

  /** The answers of one call. It may throw whatever the SDK throws. */
  protected abstract answers(request: LlmRequest, stream: boolean, options: CallOptions): AsyncGenerator<LlmResponse>

  override async *generateContentAsync(
    request: LlmRequest,
    stream = false,
    signal?: AbortSignal,
  ): AsyncGenerator<LlmResponse, void> {
    this.maybeAppendUserContent(request)
    try {
      for await (const answer of this.answers(request, stream, defined({ signal }))) {
        // An aborted stream ends like a whole one in both SDKs; its last answer would look complete.
        if (signal?.aborted && answer.partial !== true) return
        yield answer
      }
    } catch (error) {
      if (signal?.aborted) return
      yield modelFailure(error, this.sdk, { model: this.model, key: this.key, settings: this.settings })
    }
  }

  override async connect(): Promise<never> {
    throw new Error(`live mode is not supported for ${this.model}`)
  }
}

/** The answer for a response that is no event stream, such as a web page at a wrong address. */
export function noStream(response: Response, baseUrl: string): LlmResponse | undefined {
  const type = response.headers.get('content-type') ?? 'no content type'
  if (type.startsWith('text/event-stream')) return undefined
  const errorMessage = `the answer is ${type}, not an event stream: check that ${baseUrl} is the model's address`
  return { errorCode: 'NO_STREAM', errorMessage }
}
