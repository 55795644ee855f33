import type { AdkUsage } from '../../event/adk-event.ts'
import type { Usage } from '../../event/run-event.ts'
import { isObject } from '../../json/json.ts'

const fields = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'reasoningTokens',
  'cachedInputTokens',
  'modelCalls',
] as const satisfies readonly (keyof Usage)[]

/** What a model reported, in our words. What it did not report, or not as a count, stays absent. */
export function adkUsageOf(reported: AdkUsage | undefined): Usage | undefined {
  if (!isObject(reported)) return undefined
  const input = count(reported.promptTokenCount)
  const output = count(reported.candidatesTokenCount)
  const reasoning = count(reported.thoughtsTokenCount)
  const cached = count(reported.cachedContentTokenCount)
  const sum = input === undefined && output === undefined ? undefined : (input ?? 0) + (output ?? 0) + (reasoning ?? 0)
  const total = count(reported.totalTokenCount) ?? sum
  if (total === undefined && reasoning === undefined && cached === undefined) return undefined
  return {
    ...(input === undefined ? {} : { inputTokens: input }),
    ...(output === undefined ? {} : { outputTokens: output }),
    ...(total === undefined ? {} : { totalTokens: total }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
    ...(cached === undefined ? {} : { cachedInputTokens: cached }),
  }
}

/** `usage` with `more` added and `less`, that was counted before, taken off again. */
export function added(usage: Usage, more: Usage, less: Usage = {}): Usage {
  const next: { -readonly [K in keyof Usage]: Usage[K] } = { ...usage }
  for (const field of fields) {
    const change = (more[field] ?? 0) - (less[field] ?? 0)
    if (more[field] !== undefined || less[field] !== undefined) next[field] = (usage[field] ?? 0) + change
  }
  return next
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** Waits for a model's first token, in milliseconds. */
export interface FirstToken {
  readonly calls: number
  readonly total: number
  readonly last: number
  readonly longest: number
}

export function waited(before: FirstToken | undefined, time: number): FirstToken {
  const last = Math.max(0, time)
  if (before === undefined) return { calls: 1, total: last, last, longest: last }
  return { calls: before.calls + 1, total: before.total + last, last, longest: Math.max(before.longest, last) }
}
