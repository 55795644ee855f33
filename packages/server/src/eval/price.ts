import type { Usage } from '@millrace/core'

/** US dollars for a million tokens: input, output. List prices change: they are for budgets, not for bills. */
const prices: readonly (readonly [model: RegExp, input: number, output: number])[] = [
  [/^offline$/, 0, 0],
  [/gemini-2\.5-flash-lite/, 0.1, 0.4],
  [/gemini-2\.5-flash/, 0.3, 2.5],
  [/gemini-2\.5-pro/, 1.25, 10],
  [/claude-haiku-4/, 1, 5],
  [/claude-sonnet-4/, 3, 15],
  [/claude-opus-4/, 5, 25],
  [/gpt-4o-mini/, 0.15, 0.6],
  [/gpt-4o/, 2.5, 10],
  [/gpt-4\.1-mini/, 0.4, 1.6],
  [/gpt-4\.1/, 2, 8],
]

/** What tokens of a model cost in US dollars; undefined where its price is not known. */
export function costOf(
  model: string,
  { inputTokens = 0, outputTokens = 0, reasoningTokens = 0 }: Usage,
): number | undefined {
  const price = prices.find(([name]) => name.test(model))
  if (price === undefined) return undefined
  const [, input, output] = price
  return (inputTokens * input + (outputTokens + reasoningTokens) * output) / 1_000_000
}
