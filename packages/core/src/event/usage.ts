import { isObject } from '../json/json.ts'
import type { AdkUsage } from './adk-event.ts'
import type { Usage } from './run-event.ts'

const fields = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'reasoningTokens',
  'cachedInputTokens',
  'modelCalls',
] as const satisfies readonly (keyof Usage)[]

/**
 * What a model reported about one call, as Usage. A value that is not a whole number from 0 on is left out; a missing
 * total is the sum of input, output and reasoning.
 */
export function usageOf(reported: AdkUsage | undefined): Usage | undefined {
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

/** `usage` plus `more`, minus `less` (what was counted before and is now replaced). A field that neither has is unchanged. */
export function addUsage(usage: Usage, more: Usage, less: Usage = {}): Usage {
  const next: { -readonly [K in keyof Usage]: Usage[K] } = { ...usage }
  for (const field of fields) {
    const change = (more[field] ?? 0) - (less[field] ?? 0)
    if (more[field] !== undefined || less[field] !== undefined) next[field] = (usage[field] ?? 0) + change
  }
  return next
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
