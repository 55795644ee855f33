import type { LlmRequest } from '@google/adk'
import { defined, isObject } from '@millrace/core'
import OpenAI from 'openai'
import { bindingOf } from './binding.ts'
import { toolJsonSchema } from './json-schema.ts'
import { longest, modelFetch } from './model-fetch.ts'
import { chatMessages, chatTools } from './openai-messages.ts'
import { ChatTurn } from './openai-turn.ts'
import { type CallOptions, noStream, SdkLlm } from './sdk-llm.ts'
import type { ModelSettings } from './settings.ts'

type ChatRequest = OpenAI.Chat.Completions.ChatCompletionCreateParamsNonStreaming

/** A model on any server with OpenAI's chat completions API: OpenAI itself, Ollama, vLLM, llama.cpp, LiteLLM. */
export class OpenAiLlm extends SdkLlm {
  protected readonly sdk = OpenAI
  protected readonly key = 'OPENAI_API_KEY'
  readonly #client: OpenAI
  /** Which name the token limit has: OpenAI's newer models refuse `max_tokens`, other servers know only that. */
  readonly #limitField: 'max_tokens' | 'max_completion_tokens'
  constructor(model: string, apiKey: string, settings: ModelSettings) {
    super(model, settings)
    this.#limitField = settings.openaiBaseUrl === undefined ? 'max_completion_tokens' : 'max_tokens'
    this.#client = new OpenAI({
      apiKey,
      // Always set: the SDK would read the environment otherwise, which only the CLI may do.
      baseURL: settings.openaiBaseUrl ?? 'https://api.openai.com/v1',
      organization: null,
      project: null,
      maxRetries: 0,
      logLevel: 'off',
      // The SDK's own limit covers only the time to the headers; `modelFetch` has the one that the setting names.
      timeout: longest,
      fetch: modelFetch(settings),
    })
  }

  protected override async *answers(request: LlmRequest, stream: boolean, options: CallOptions) {
    const body = this.#body(request)
    const { report } = bindingOf(request)
    const turn = new ChatTurn(this.model)
    if (stream) {
      const streaming = { ...body, stream: true as const, stream_options: { include_usage: true } }
      const { data, response } = await this.#client.chat.completions.create(streaming, options).withResponse()
      let chunks = 0
      for await (const chunk of data) {
        chunks += 1
        if (isObject(chunk)) yield* turn.chunk(chunk)
        else report?.(`the model sent a chunk that is not an object; it was skipped: ${JSON.stringify(chunk)}`)
      }
      // Some servers stream without saying so: only an answer without any chunk is judged by its type.
      const wrong = chunks === 0 ? noStream(response, this.#client.baseURL) : undefined
      if (wrong !== undefined) {
        yield wrong
        return
      }
    } else turn.whole(await this.#client.chat.completions.create(body, options))
    yield turn.end()
  }

  #body(request: LlmRequest): ChatRequest {
    const { config = {} } = request
    const tools = chatTools(request)
    const choice = config.toolConfig?.functionCallingConfig?.mode
    return {
      model: this.model,
      messages: [...chatMessages(request)],
      ...(tools.length === 0 ? {} : { tools: [...tools] }),
      ...(tools.length > 0 && choice === 'ANY' ? { tool_choice: 'required' as const } : {}),
      ...(tools.length > 0 && choice === 'NONE' ? { tool_choice: 'none' as const } : {}),
      ...responseFormat(config),
      ...defined({
        temperature: config.temperature,
        top_p: config.topP,
        stop: config.stopSequences,
        seed: config.seed,
        presence_penalty: config.presencePenalty,
        frequency_penalty: config.frequencyPenalty,
        [this.#limitField]: config.maxOutputTokens,
      }),
    }
  }
}

function responseFormat(config: NonNullable<LlmRequest['config']>): Pick<ChatRequest, 'response_format'> {
  const schema = config.responseJsonSchema ?? config.responseSchema
  if (schema !== undefined) {
    return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: toolJsonSchema(schema) } } }
  }
  return config.responseMimeType === 'application/json' ? { response_format: { type: 'json_object' } } : {}
}
