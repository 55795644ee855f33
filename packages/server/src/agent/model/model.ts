import { BaseLlm, Gemini, LLMRegistry, type LlmRequest, type LlmResponse } from '@google/adk'
import { bindingOf } from './binding.ts'
import type { OfflineScript } from './offline.ts'
import { OfflineLlm } from './offline-llm.ts'
import { chooseModel, type ModelChoice, type ModelSettings } from './settings.ts'

export interface ModelOptions {
  /** `gemini-…`, `openai:<model>` or `offline`. Without it: MILLRACE_MODEL, else whichever key is set, else offline. */
  readonly name?: string
  /** What the agents say when there is no key. With it, an agent whose model has no key runs offline. */
  readonly offline?: OfflineScript
}

/**
 * The model of an agent, chosen when it is first asked: an agent file is loaded before anybody knows the settings.
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
  /** One client per settings object: clients hold connections. */
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
    const { settings } = bindingOf(request)
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
      case 'openai': {
        const { OpenAiLlm } = await import('./openai-llm.ts')
        return new OpenAiLlm(choice.name, choice.apiKey, settings)
      }
    }
  }
}

/** What ADK makes of a model given as a string. */
class NamedLlm extends ChosenLlm {
  // ADK looks patterns up in the order they came, and a pattern is its RegExp object: Gemini's own must be replaced.
  static override readonly supportedModels: (string | RegExp)[] = [
    ...Gemini.supportedModels.slice(0, 1),
    /openai:.+/,
    'offline',
  ]
  constructor({ model: name }: { model: string }) {
    super({ name })
  }
}

/** Lets `model: 'gemini-…'`, `'openai:…'` and `'offline'` in an agent file mean what `model()` means. */
export function registerModels(): void {
  LLMRegistry.register(NamedLlm)
}
