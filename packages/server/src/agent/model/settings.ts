import { isLong, secretsIn, withBase64 } from '../redact.ts'
import type { ModelTape } from './tape.ts'

/** The settings of all models. The CLI reads them from the environment; nothing here does. */
export interface ModelSettings {
  /** The model of agents that do not name one, or whose own cannot answer: see `chooseModel` for the names. */
  readonly model?: string
  readonly googleApiKey?: string
  readonly googleBaseUrl?: string
  readonly anthropicApiKey?: string
  readonly anthropicBaseUrl?: string
  readonly openaiApiKey?: string
  readonly openaiBaseUrl?: string
  /** The offline model's pace; 0 is as fast as possible (tests). */
  readonly tokensPerSecond?: number
  /** How often a model call that answers 429 or 5xx is made, including the first time. */
  readonly attempts?: number
  /** Seconds that a model may send no bytes before its call fails: 240. 0 waits without end. */
  readonly timeout?: number
  /** Plays recorded answers, or records them. Absent: models are called. */
  readonly tape?: ModelTape
  /** Values that must not be in a record of a model call, such as keys. */
  readonly secrets?: readonly string[]
  /** For tests; otherwise the global one. */
  readonly fetch?: typeof globalThis.fetch
}

/** The settings in environment variables: those of the vendors' SDKs, and three of Millrace's own. */
export function modelSettings(env: Readonly<Record<string, string | undefined>>): ModelSettings {
  return compact({
    model: env.MILLRACE_MODEL,
    googleApiKey: env.GOOGLE_API_KEY || env.GEMINI_API_KEY,
    googleBaseUrl: env.GOOGLE_GEMINI_BASE_URL,
    anthropicApiKey: env.ANTHROPIC_API_KEY,
    anthropicBaseUrl: env.ANTHROPIC_BASE_URL,
    openaiApiKey: env.OPENAI_API_KEY,
    openaiBaseUrl: env.OPENAI_BASE_URL,
    tokensPerSecond: amount(env.MILLRACE_OFFLINE_TOKENS_PER_SECOND),
    timeout: amount(env.MILLRACE_MODEL_TIMEOUT),
    secrets: secretsIn(env),
  })
}

/** What must not be in a record of a model call. */
export function secretsOf(settings: ModelSettings): readonly string[] {
  const { googleApiKey, anthropicApiKey, openaiApiKey, secrets = [] } = settings
  const known = secretLists.get(settings)
  if (known !== undefined) return known
  const all = [googleApiKey, anthropicApiKey, openaiApiKey, ...secrets].filter((key) => key !== undefined)
  const list = [...new Set(all.filter(isLong).flatMap(withBase64))]
  secretLists.set(settings, list)
  return list
}

/** One list for all runs of an agent, because clean values are remembered by list (`cleanValuesOf`). */
const secretLists = new WeakMap<ModelSettings, readonly string[]>()

type Provider = 'gemini' | 'anthropic' | 'openai'

/** The model that will really answer. */
export type ModelChoice =
  | { readonly kind: Provider; readonly name: string; readonly apiKey: string }
  | { readonly kind: 'offline'; readonly name: 'offline' }
  /** The named model cannot answer, and there is no other to fall back to. */
  | { readonly kind: 'missing'; readonly name: string; readonly reason: string }

/** The defaults are from each vendor's cheap, fast line, so that a first try costs little. */
const defaults: Readonly<Record<Provider, string>> = {
  gemini: 'gemini-2.5-flash',
  anthropic: 'claude-haiku-4-5',
  openai: 'openai:gpt-4o-mini',
}

/** What each provider needs to answer, as the error says it. */
const keys: Readonly<Record<Provider, string>> = {
  gemini: 'GOOGLE_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own',
}

/**
 * Chooses by name, else by the setting, else by the key that is set, else offline. The names are `gemini-…`, `claude-…`,
 * `google:<model>`, `anthropic:<model>`, `openai:<model>` and `offline`. A named model that cannot answer, because it has
 * no key or no known provider, is replaced by the setting; one without a key also by the agent's offline script
 * (`scripted`).
 */
export function chooseModel(settings: ModelSettings, named?: string, scripted = false): ModelChoice {
  let choice = chooseByName(settings, named ?? settings.model ?? nameByKey(settings))
  if (choice.kind === 'missing' && named !== undefined && settings.model !== undefined) {
    choice = chooseByName(settings, settings.model)
  }
  const lacksKey = choice.kind === 'missing' && providerOf(choice.name) !== undefined
  return lacksKey && scripted ? { kind: 'offline', name: 'offline' } : choice
}

function chooseByName(settings: ModelSettings, name: string): ModelChoice {
  if (name === 'offline') return { kind: 'offline', name }
  const found = providerOf(name)
  if (found === undefined) return { kind: 'missing', name, reason: unknownProvider(name) }
  const apiKey = keyOf(settings, found.kind)
  if (apiKey !== undefined) return { ...found, apiKey }
  const reason = `${name} needs ${keys[found.kind]}. Set it, or set MILLRACE_MODEL to another model (MILLRACE_MODEL=offline needs no key).`
  return { kind: 'missing', name, reason }
}

function providerOf(name: string): { readonly kind: Provider; readonly name: string } | undefined {
  const [, prefix, model = ''] = /^([\w-]+):(.+)$/.exec(name) ?? []
  if (prefix === 'openai') return { kind: 'openai', name: model }
  if (prefix === 'anthropic') return { kind: 'anthropic', name: model }
  if (prefix === 'google' || prefix === 'google-genai' || prefix === 'gemini') return { kind: 'gemini', name: model }
  if (prefix !== undefined) return undefined
  if (name.startsWith('claude-')) return { kind: 'anthropic', name }
  // Also `models/gemini-…` and the full resource names of Vertex AI.
  return /gemini/.test(name) ? { kind: 'gemini', name } : undefined
}

/** Says how to write the name: most authors know the model's own name, but not the provider's prefix. */
function unknownProvider(name: string): string {
  const model = name.replace(/^[\w-]+[:/](?=.)/, '')
  const vendor = /claude/i.test(model) ? 'anthropic' : /gemini/i.test(model) ? 'google' : 'openai'
  return `${name}: no provider of that name; write ${vendor}:${model}, or set MILLRACE_MODEL. The providers are google:, anthropic: and openai: (any OpenAI-compatible server).`
}

function keyOf(settings: ModelSettings, kind: Provider): string | undefined {
  if (kind === 'gemini') return settings.googleApiKey
  // Local servers and proxies (Ollama, vLLM, LiteLLM) take any key; the SDKs insist on one.
  if (kind === 'anthropic') return settings.anthropicApiKey ?? (settings.anthropicBaseUrl && 'none')
  return settings.openaiApiKey ?? (settings.openaiBaseUrl && 'none')
}

function nameByKey(settings: ModelSettings): string {
  if (settings.googleApiKey !== undefined) return defaults.gemini
  if (settings.anthropicApiKey !== undefined) return defaults.anthropic
  // A base URL alone does not name a model; MILLRACE_MODEL must.
  if (settings.openaiApiKey !== undefined) return defaults.openai
  return 'offline'
}

function amount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,6}(\.\d+)?$/.test(text) ? Number(text) : undefined
}

function compact(settings: { [K in keyof ModelSettings]: ModelSettings[K] | undefined }): ModelSettings {
  return Object.fromEntries(
    Object.entries(settings).filter(
      ([, value]) => value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
    ),
  )
}
