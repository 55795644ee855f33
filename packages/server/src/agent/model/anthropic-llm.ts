import Anthropic from '@anthropic-ai/sdk'
import type { LlmRequest } from '@google/adk'
import { defined } from '@millrace/core'
import { anthropicMessages, anthropicTools } from './anthropic-messages.ts'
import { AnthropicTurn } from './anthropic-turn.ts'
import { bindingOf } from './binding.ts'
import { toolJsonSchema } from './json-schema.ts'
import { longest, modelFetch } from './model-fetch.ts'
import { type CallOptions, noStream, SdkLlm } from './sdk-llm.ts'
import type { ModelSettings } from './settings.ts'

type Body = Anthropic.Messages.MessageCreateParamsNonStreaming
type Config = NonNullable<LlmRequest['config']>

/** The API insists on a limit. This one is within what every current model can write, and what the SDK sends unstreamed. */
const defaultMaxTokens = 16_384

/** A Claude model, by Anthropic's own SDK. */
export class AnthropicLlm extends SdkLlm {
  protected readonly sdk = Anthropic
  protected readonly key = 'ANTHROPIC_API_KEY'
  readonly #client: Anthropic
  /** Whether the log says which settings are left out. Once is enough. */
  #told = false
  constructor(model: string, apiKey: string, settings: ModelSettings) {
    super(model, settings)
    this.#client = new Anthropic({
      apiKey,
      // Always set: the SDK would read the environment otherwise, which only the CLI may do.
      baseURL: settings.anthropicBaseUrl ?? 'https://api.anthropic.com',
      webhookKey: null,
      maxRetries: 0,
      logLevel: 'off',
      // Spans come from the run engine, without contents.
      openTelemetry: false,
      // The SDK's own limit covers only the time to the headers; `modelFetch` has the one that the setting names.
      timeout: longest,
      fetch: modelFetch(settings),
    })
  }

  protected override async *answers(request: LlmRequest, stream: boolean, options: CallOptions) {
    const { report } = bindingOf(request)
    const turn = new AnthropicTurn(this.model, report)
    const left = leftOut(request.config)
    if (left.length > 0 && !this.#told) {
      this.#told = true
      report?.(`the Messages API takes no ${left.join(', ')}: left out of the calls of ${this.model}`)
    }
    const body = this.#body(request)
    if (stream) {
      const { data, response } = await this.#client.messages.create({ ...body, stream: true }, options).withResponse()
      const wrong = noStream(response, this.#client.baseURL)
      if (wrong !== undefined) {
        await response.body?.cancel()
        yield wrong
        return
      }
      for await (const event of data) yield* turn.event(event)
    } else turn.whole(await this.#client.messages.create(body, options))
    yield turn.end()
  }

  #body(request: LlmRequest): Body {
    const { config = {} } = request
    const tools = anthropicTools(request)
    const { systemInstruction: system } = config
    return {
      model: this.model,
      max_tokens: config.maxOutputTokens ?? defaultMaxTokens,
      messages: anthropicMessages(request),
      ...(typeof system === 'string' && system.trim() !== '' ? { system } : {}),
      ...(tools.length === 0 ? {} : { tools, ...toolChoice(config) }),
      ...outputConfig(config),
      ...thinking(config),
      ...defined({ stop_sequences: config.stopSequences }),
    }
  }
}

/** Settings of the agent that the API refuses, even at their defaults, since its version of 2026-10-21. */
function leftOut(config: Config = {}): readonly string[] {
  return (['temperature', 'topP', 'topK'] as const).filter((name) => config[name] !== undefined)
}

function toolChoice(config: Config): Pick<Body, 'tool_choice'> {
  const { mode, allowedFunctionNames: [only, ...more] = [] } = config.toolConfig?.functionCallingConfig ?? {}
  if (mode === 'NONE') return { tool_choice: { type: 'none' } }
  if (mode !== 'ANY') return {}
  return only !== undefined && more.length === 0
    ? { tool_choice: { type: 'tool', name: only } }
    : { tool_choice: { type: 'any' } }
}

/** Structured output. The API takes only objects that allow no other properties. */
function outputConfig(config: Config): Pick<Body, 'output_config'> {
  const schema = config.responseJsonSchema ?? config.responseSchema
  if (schema === undefined) return {}
  return { output_config: { format: { type: 'json_schema', schema: closed(toolJsonSchema(schema)) } } }
}

function closed(schema: Record<string, unknown>): Record<string, unknown> {
  const inner = Object.entries(schema).map(([key, value]) => [key, closedValue(value)])
  const made: Record<string, unknown> = Object.fromEntries(inner)
  return made.type === 'object' ? { ...made, additionalProperties: false } : made
}

function closedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closedValue)
  return typeof value === 'object' && value !== null ? closed(value as Record<string, unknown>) : value
}

/** ADK's `thinkingConfig`: a budget of 0 is off, -1 or none leaves the amount to the model. */
function thinking({ thinkingConfig }: Config): Pick<Body, 'thinking'> {
  if (thinkingConfig === undefined) return {}
  const { includeThoughts, thinkingBudget: budget = -1 } = thinkingConfig
  if (budget === 0) return { thinking: { type: 'disabled' } }
  const display = includeThoughts === true ? { display: 'summarized' as const } : {}
  if (budget > 0) return { thinking: { type: 'enabled', budget_tokens: budget, ...display } }
  return includeThoughts === true ? { thinking: { type: 'adaptive', ...display } } : {}
}
