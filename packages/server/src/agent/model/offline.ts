import { defined, type JsonObject } from '@millrace/core'

/**
 * The script of the offline model: what an agent answers and which tools it calls, as a function of the user's message
 * and the tools' answers. Only the language is scripted; the tools are real, and so are their results.
 *
 * ```ts
 * const script: OfflineScript = {
 *   coordinator: ({ step, result }) =>
 *     step === 0 ? [think('Ask the analyst.'), call('burn_analyst', { request: 'cedar-creek' })]
 *                : say(`Severity: ${result('burn_analyst')?.severity}`),
 * }
 * ```
 */
export type OfflineScript = OfflineAgentScript | Readonly<Record<string, OfflineAgentScript>>
/** Called once per model turn. It must be deterministic. */
export type OfflineAgentScript = (request: OfflineRequest) => OfflineTurn | Promise<OfflineTurn>
/** One turn of the model; a string is text. An empty list is an empty answer, which fails the run. */
export type OfflineTurn = string | OfflinePart | readonly (OfflinePart | string)[]

export type OfflinePart =
  | { readonly kind: 'say' | 'think'; readonly text: string; readonly perSecond?: number }
  | { readonly kind: 'call'; readonly name: string; readonly args: JsonObject }
  | { readonly kind: 'fail'; readonly code: string; readonly message: string }

/** Text, streamed word by word. `perSecond` sets the words per second, unless the pace is 0 (tests). */
export function say(text: string, perSecond?: number): OfflinePart {
  return { kind: 'say', text, ...defined({ perSecond }) }
}
/** A thought: a part with `thought`, streamed like text. */
export function think(text: string, perSecond?: number): OfflinePart {
  return { kind: 'think', text, ...defined({ perSecond }) }
}
/** Calls a tool. All calls of one turn run in parallel. */
export function call(name: string, args: JsonObject = {}): OfflinePart {
  return { kind: 'call', name, args }
}
/** An error as models report it, with a code and a message. Text before it in the turn is still streamed. */
export function fail(code: string, message: string): OfflinePart {
  return { kind: 'fail', code, message }
}

export interface OfflineRequest {
  /** The name of the agent. */
  readonly agent: string
  /** The latest message of the user (for a specialist: its request). */
  readonly user: string
  /** Model turns this agent has taken since that message: 0 on the first. */
  readonly step: number
  /** What the agent's tools answered since that message, in order. */
  readonly results: readonly OfflineResult[]
  /** The latest answer of a tool since that message. */
  readonly result: (tool: string) => JsonObject | undefined
  /** The session's state as the turn begins. */
  readonly state: JsonObject
  /** The system instruction, state injected. */
  readonly instruction: string
  /** The names of the tools the agent may call now. */
  readonly tools: readonly string[]
  /** The conversation so far, oldest first, as text. */
  readonly history: readonly { readonly role: 'user' | 'model'; readonly text: string }[]
}

export interface OfflineResult {
  readonly name: string
  readonly args: JsonObject
  readonly response: JsonObject
  /** The turn (0-based) that made the call. */
  readonly step: number
}

/** The script of one agent. An agent without one answers with a sentence that explains this. */
export function scriptFor(script: OfflineScript | undefined, agent: string): OfflineAgentScript {
  if (typeof script === 'function') return script
  return script?.[agent] ?? (({ user }) => unscripted(agent, user))
}

function unscripted(agent: string, user: string): string {
  const asked = user === '' ? '' : ` You said: “${user.slice(0, 200)}”.`
  return `I am the offline model, and the agent ${agent} has no offline script.${asked} Set GOOGLE_API_KEY, ANTHROPIC_API_KEY or OPENAI_API_KEY to use a real model.`
}

export function offlinePartsOf(turn: OfflineTurn): readonly OfflinePart[] {
  const parts = typeof turn === 'string' || 'kind' in turn ? [turn] : turn
  return parts.map((part) => (typeof part === 'string' ? say(part) : part))
}

/** Word by word, each with the white space after it, so that the chunks add up to the text. */
export function words(text: string): readonly string[] {
  return text === '' ? [] : text.split(/(?<=\s)(?=\S)/)
}

/** Tokens as the offline model counts them: words. */
export function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0
}
