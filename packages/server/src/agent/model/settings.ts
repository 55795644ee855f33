/** The settings of all models. The CLI reads them from the environment; nothing here does. */
export interface ModelSettings {
  /** The model of agents that do not name one: `gemini-…`, `openai:<model>` or `offline`. */
  readonly model?: string
  readonly googleApiKey?: string
  readonly googleBaseUrl?: string
  readonly openaiApiKey?: string
  readonly openaiBaseUrl?: string
  /** The offline model's pace; 0 is as fast as possible (tests). */
  readonly tokensPerSecond?: number
  /** How often a model call that answers 429 or 5xx is made, including the first time. */
  readonly attempts?: number
  /** For tests; otherwise the global one. */
  readonly fetch?: typeof globalThis.fetch
}

/** The settings in environment variables: those of the Gemini and OpenAI SDKs, and two of Millrace's own. */
export function modelSettings(env: Readonly<Record<string, string | undefined>>): ModelSettings {
  const tokensPerSecond = Number(env.MILLRACE_OFFLINE_TOKENS_PER_SECOND ?? '')
  return compact({
    model: env.MILLRACE_MODEL,
    googleApiKey: env.GOOGLE_API_KEY ?? env.GEMINI_API_KEY,
    googleBaseUrl: env.GOOGLE_GEMINI_BASE_URL,
    openaiApiKey: env.OPENAI_API_KEY,
    openaiBaseUrl: env.OPENAI_BASE_URL,
    ...(env.MILLRACE_OFFLINE_TOKENS_PER_SECOND && tokensPerSecond >= 0 ? { tokensPerSecond } : {}),
  })
}

/** The model that will really answer. */
export type ModelChoice =
  | { readonly kind: 'gemini'; readonly name: string; readonly apiKey: string }
  | { readonly kind: 'openai'; readonly name: string; readonly apiKey: string }
  | { readonly kind: 'offline'; readonly name: 'offline' }
  /** The named model has no key, and there is no script to fall back to. */
  | { readonly kind: 'missing'; readonly name: string; readonly reason: string }

/** The defaults are from each vendor's cheap, fast line, so that a first try costs little. */
const defaultGemini = 'gemini-2.5-flash'
const defaultOpenai = 'gpt-4o-mini'

/**
 * Chooses by name, else by the setting, else by the key that is set, else offline. A named model without a key is no error
 * if the agent has an offline script (`scripted`) or the setting is `offline`: then it runs offline.
 */
export function chooseModel(settings: ModelSettings, named?: string, scripted = false): ModelChoice {
  const name = named ?? settings.model ?? nameByKey(settings)
  if (name === 'offline') return { kind: 'offline', name }
  const offline = scripted || settings.model === 'offline'
  if (name.startsWith('openai:')) {
    const model = name.slice('openai:'.length)
    if (settings.openaiApiKey !== undefined || settings.openaiBaseUrl !== undefined) {
      // Local servers (Ollama, vLLM, llama.cpp) take any key; the SDK insists on one.
      return { kind: 'openai', name: model, apiKey: settings.openaiApiKey ?? 'none' }
    }
    return lacking(name, offline, 'OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own')
  }
  if (/gemini/.test(name)) {
    if (settings.googleApiKey !== undefined) return { kind: 'gemini', name, apiKey: settings.googleApiKey }
    return lacking(name, offline, 'GOOGLE_API_KEY')
  }
  return {
    kind: 'missing',
    name,
    reason: `unknown model: ${name}. Use gemini-<model>, openai:<model> or offline.`,
  }
}

function nameByKey(settings: ModelSettings): string {
  if (settings.googleApiKey !== undefined) return defaultGemini
  // A base URL alone does not name a model; MILLRACE_MODEL must.
  if (settings.openaiApiKey !== undefined) return `openai:${defaultOpenai}`
  return 'offline'
}

function lacking(name: string, offline: boolean, key: string): ModelChoice {
  if (offline) return { kind: 'offline', name: 'offline' }
  return { kind: 'missing', name, reason: `${name} needs ${key}. Set it, or set MILLRACE_MODEL=offline.` }
}

function compact(settings: { [K in keyof ModelSettings]: ModelSettings[K] | undefined }): ModelSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined && value !== ''))
}
