import { type AdkUsage, isObject } from '@millrace/core'

/** The tokens and the model of one model call, as far as the message has them. */
export interface LangChainCall {
  readonly usage?: AdkUsage
  readonly model?: string
  readonly finishReason?: string
}

/** `metadata` is LangChain's own for the call; it names the model as the author configured it. */
export function langChainCall(message: unknown, metadata: Readonly<Record<string, unknown>> = {}): LangChainCall {
  if (!isObject(message)) return {}
  const { usage_metadata: usage, response_metadata: response } = message
  const given = isObject(response) ? response : {}
  const model = [given.model_name, given.model, given.modelName, metadata.ls_model_name].find(
    (name) => typeof name === 'string' && name !== '',
  )
  const reason = [given.finish_reason, given.stop_reason, given.finishReason].find((each) => typeof each === 'string')
  // Of some streamed answers LangChain keeps what the provider said, and not its own form of it.
  const used = isObject(usage) ? usageFrom(usage) : isObject(given.usage) ? usageOfProvider(given.usage) : undefined
  return {
    ...(used === undefined ? {} : { usage: used }),
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof reason === 'string' ? { finishReason: reason } : {}),
  }
}

const count = (value: unknown): number => (typeof value === 'number' ? value : 0)
const detail = (of: unknown, name: string): unknown => (isObject(of) ? of[name] : undefined)

/** The usage as OpenAI's API writes it; undefined for any other. */
function usageOfProvider(usage: Readonly<Record<string, unknown>>): AdkUsage | undefined {
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = usage
  if (typeof input !== 'number' && typeof output !== 'number') return undefined
  return usageFrom({
    input_tokens: input,
    output_tokens: output,
    total_tokens: total ?? count(input) + count(output),
    input_token_details: { cache_read: detail(usage.prompt_tokens_details, 'cached_tokens') },
    output_token_details: { reasoning: detail(usage.completion_tokens_details, 'reasoning_tokens') },
  })
}

function usageFrom(usage: Readonly<Record<string, unknown>>): AdkUsage {
  const thoughts = detail(usage.output_token_details, 'reasoning')
  const cached = detail(usage.input_token_details, 'cache_read')
  return {
    promptTokenCount: count(usage.input_tokens),
    // LangChain counts the reasoning among the output; ADK counts it apart.
    candidatesTokenCount: Math.max(0, count(usage.output_tokens) - count(thoughts)),
    totalTokenCount: count(usage.total_tokens),
    ...(typeof thoughts === 'number' ? { thoughtsTokenCount: thoughts } : {}),
    ...(typeof cached === 'number' ? { cachedContentTokenCount: cached } : {}),
  }
}
