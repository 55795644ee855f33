import type { Cost } from './call-record.ts'
import type { Usage } from './run-event.ts'

/** Prices of one million tokens, by the name of the model. */
export interface ModelPrices {
  readonly currency: string
  readonly models: Readonly<Record<string, ModelPrice>>
}
export interface ModelPrice {
  readonly input: number
  readonly output: number
  /** Of input that the provider had cached; without it, the price of input. */
  readonly cachedInput?: number
}

/** The providers' list prices in US dollars. They change: they are for budgets, not for bills. */
export const listPrices: ModelPrices = {
  currency: 'USD',
  models: {
    offline: { input: 0, output: 0 },
    'gemini-2.5-flash-lite': { input: 0.1, output: 0.4, cachedInput: 0.01 },
    'gemini-2.5-flash': { input: 0.3, output: 2.5, cachedInput: 0.03 },
    'gemini-2.5-pro': { input: 1.25, output: 10, cachedInput: 0.125 },
    'claude-haiku-4': { input: 1, output: 5, cachedInput: 0.1 },
    'claude-sonnet-4': { input: 3, output: 15, cachedInput: 0.3 },
    'claude-opus-4': { input: 5, output: 25, cachedInput: 0.5 },
    'gpt-4o-mini': { input: 0.15, output: 0.6, cachedInput: 0.075 },
    'gpt-4o': { input: 2.5, output: 10, cachedInput: 1.25 },
    'gpt-4.1-mini': { input: 0.4, output: 1.6, cachedInput: 0.1 },
    'gpt-4.1': { input: 2, output: 8, cachedInput: 0.5 },
  },
}

/**
 * What tokens of a model cost: by the own price of exactly this model, else by the list price, which also holds for
 * `models/gemini-2.5-flash-001`. Undefined where no price is known, or the list has another currency than the own prices.
 */
export function costOf(model: string, usage: Usage, own?: ModelPrices): Cost | undefined {
  const price = own !== undefined && Object.hasOwn(own.models, model) ? own.models[model] : undefined
  if (own !== undefined && price !== undefined) return { amount: amountOf(price, usage), currency: own.currency }
  const listed = own === undefined || own.currency === listPrices.currency ? listPrice(model) : undefined
  return listed === undefined ? undefined : { amount: amountOf(listed, usage), currency: listPrices.currency }
}

const names = Object.keys(listPrices.models).sort((a, b) => b.length - a.length)

/** What may follow the name in that of one of its versions: numbers, dates, and words for how new it is. */
const version = /^(?:[-@.:]v?\d{1,12}|[-:](?:latest|preview|exp|it))*$/

/** A model whose name only begins like a listed one, such as `gpt-4.1-nano`, is another one with another price. */
function listPrice(model: string): ModelPrice | undefined {
  const name = names.find((each) => {
    if (model === each || each === 'offline') return model === each
    const at = model.lastIndexOf(each)
    return at >= 0 && /(?:^|[/.:])$/.test(model.slice(0, at)) && version.test(model.slice(at + each.length))
  })
  return name === undefined || /^(?:ft:|tunedModels\/)/.test(model) ? undefined : listPrices.models[name]
}

function amountOf({ input, output, cachedInput = input }: ModelPrice, usage: Usage): number {
  const { inputTokens = 0, cachedInputTokens = 0, outputTokens = 0, reasoningTokens = 0 } = usage
  const cached = Math.min(cachedInputTokens, inputTokens)
  return ((inputTokens - cached) * input + cached * cachedInput + (outputTokens + reasoningTokens) * output) / 1_000_000
}

const signs: Readonly<Record<string, string>> = { USD: '$', EUR: '€', GBP: '£' }

/** `$12.40`, `$0.0042`, `0.50 CHF`: two decimals, or two significant digits of less than one. */
export function costText({ amount, currency }: Cost): string {
  const digits = amount === 0 || amount >= 1 ? 2 : Math.min(12, Math.max(2, 1 - Math.floor(Math.log10(amount))))
  const figure = amount.toFixed(digits)
  const sign = Object.hasOwn(signs, currency) ? signs[currency] : undefined
  return sign === undefined ? `${figure} ${currency}` : `${sign}${figure}`
}

/** The costs of several calls, one sum for each currency; a dash where none is known. */
export function costsText(costs: readonly Cost[] | undefined): string {
  return costs === undefined || costs.length === 0 ? '–' : costs.map(costText).join(' + ')
}
