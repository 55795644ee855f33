import './silence-adk-logger.ts'
import { BaseLlm, Gemini, LLMRegistry, type LlmRequest, type LlmResponse } from '@google/adk'
import { bindingOf } from './binding.ts'
import type { OfflineScript } from './offline.ts'
import { OfflineLlm } from './offline-llm.ts'
import { withoutTaken } from './partial-taker.ts'
import { chooseModel, type ModelChoice, type ModelSettings } from './settings.ts'
import { taped } from './tape.ts'

export interface ModelOptions {
  /**
   * `gemini-…`, `claude-…`, `openai:<model>` or `offline`. Without it: MILLRACE_MODEL, else whichever key is set, else
   * offline.
   */
  readonly name?: string
  /** The script of the offline model. An agent that has one runs offline when its model has no key. */
  readonly offline?: OfflineScript
}

/**
 * The model of an agent. It is chosen at the first call: an agent's file is loaded before the settings are known.
 *
 * ```ts
 * export const rootAgent = new LlmAgent({ name: 'assistant', model: model({ offline: script }), … })
 * ```
 */
export function model(options: ModelOptions | string = {}): BaseLlm {
  return new ChosenLlm(typeof options === 'string' ? { name: options } : options)
}

export class ChosenLlm extends BaseLlm {
  readonly #options: ModelOptions
  readonly #offline: OfflineLlm
  /** One client per settings object, because clients hold connections. */
  readonly #chosen = new WeakMap<ModelSettings, Promise<BaseLlm | string>>()
  constructor(options: ModelOptions) {
    super({ model: options.name ?? 'auto' })
    this.#options = options
    this.#offline = new OfflineLlm(options.offline)
  }

  choose(settings: ModelSettings): ModelChoice {
    return chooseModel(settings, this.#options.name, this.#options.offline !== undefined)
  }

  override async *generateContentAsync(
    request: LlmRequest,
    stream = false,
    signal?: AbortSignal,
  ): AsyncGenerator<LlmResponse, void> {
    const { settings, agent, partials } = bindingOf(request)
    const ask = (): AsyncGenerator<LlmResponse, void> => this.#ask(settings, request, stream, signal)
    const answers = settings.tape === undefined ? ask() : taped(settings.tape, agent, request, stream, ask)
    yield* withoutTaken(answers, partials)
  }

  async *#ask(
    settings: ModelSettings,
    request: LlmRequest,
    stream: boolean,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<LlmResponse, void> {
    let chosen = this.#chosen.get(settings)
    if (chosen === undefined) {
      chosen = this.#open(settings)
      this.#chosen.set(settings, chosen)
    }
    const llm = await chosen
    if (typeof llm === 'string') {
      yield { errorCode: 'NO_MODEL', errorMessage: llm }
      return
    }
    request.model = llm.model
    yield* llm.generateContentAsync(request, stream, signal)
  }

  override async connect(): Promise<never> {
    throw new Error('live mode is not supported')
  }

  async #open(settings: ModelSettings): Promise<BaseLlm | string> {
    const choice = this.choose(settings)
    switch (choice.kind) {
      case 'offline':
        return this.#offline
      case 'missing':
        return choice.reason
      case 'gemini': {
        const { GeminiLlm } = await import('./gemini-llm.ts')
        return new GeminiLlm(choice.name, choice.apiKey, settings)
      }
      case 'anthropic': {
        const { AnthropicLlm } = await import('./anthropic-llm.ts')
        return new AnthropicLlm(choice.name, choice.apiKey, settings)
      }
      case 'openai': {
        const { OpenAiLlm } = await import('./openai-llm.ts')
        return new OpenAiLlm(choice.name, choice.apiKey, settings)
      }
    }
  }
}

/** The class that ADK creates for a model given as a string. */
class NamedLlm extends ChosenLlm {
  // ADK takes the first pattern that matches, and its keys are the RegExp objects: the one of Gemini itself must be reused.
  static override readonly supportedModels: (string | RegExp)[] = [
    ...Gemini.supportedModels.slice(0, 1),
    /(openai|anthropic|google):.+/,
    'offline',
  ]
  constructor({ model: name }: { model: string }) {
    super({ name })
  }
}

/** Makes `model: 'gemini-…'`, `'openai:…'` and the like in an agent's file equivalent to `model('…')`. */
export function registerModels(): void {
  LLMRegistry.register(NamedLlm)
}

/**
 * The same for a name that neither ADK nor the agent's file has registered, such as `claude-…`. An unknown one then fails
 * with the reason of `chooseModel`, which says what to write. Call it after the file is loaded: ADK takes the first class
 * that was registered for a name, and the author's own must win.
 */
export function registerName(name: string): void {
  try {
    LLMRegistry.resolve(name)
  } catch {
    LLMRegistry.register(
      class extends NamedLlm {
        static override readonly supportedModels = [name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')]
      },
    )
  }
}
