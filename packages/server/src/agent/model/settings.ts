/** What the models need to know of the world. The CLI reads it from env and hands it in; nothing here reads env. */
export interface ModelSettings {
  /** The model of agents that name none: `gemini-…`, `openai:<model>` or `offline`. */
  readonly model?: string
  readonly googleApiKey?: string
  readonly googleBaseUrl?: string
  readonly openaiApiKey?: string
  readonly openaiBaseUrl?: string
  /** The offline model's pace. 0 is as fast as it can (tests). */
  readonly tokensPerSecond?: number
  /** How often a model call that answered 429 or 5xx is tried, the first time included. */
  readonly attempts?: number
  /** Given in tests; otherwise the host's own. */
  readonly fetch?: typeof globalThis.fetch
}

/** The env variables of the models, as the Gemini and OpenAI SDKs name them, and Millrace's own two. */
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

/** Which model really answers, and with what. */
export type ModelChoice =
  | { readonly kind: 'gemini'; readonly name: string; readonly apiKey: string }
  | { readonly kind: 'openai'; readonly name: string; readonly apiKey: string }
  | { readonly kind: 'offline'; readonly name: 'offline' }
  /** A model was named that cannot be reached, and there is no script to fall back to. */
  | { readonly kind: 'missing'; readonly name: string; readonly reason: string }

/** Defaults of each vendor's cheap, fast line: what a first run should cost. */
const defaultGemini = 'gemini-2.5-flash'
const defaultOpenai = 'gpt-4o-mini'

/**
 * Chooses by name, else by the setting, else by which key is there, else offline. `scripted` says that the agent can
 * run offline, and the setting that it shall: then a named model without a key is no error.
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
    reason: `no such model: ${name}. Name gemini-<model>, openai:<model> or offline.`,
  }
}

function nameByKey(settings: ModelSettings): string {
  if (settings.googleApiKey !== undefined) return defaultGemini
  // With only a base URL the model's name cannot be guessed; MILLRACE_MODEL says it.
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
