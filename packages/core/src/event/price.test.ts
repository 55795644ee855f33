import { expect, test } from 'vitest'
import { costOf, costsText, costText, type ModelPrices } from './price.ts'

const million = { inputTokens: 1_000_000, outputTokens: 1_000_000 }
const own: ModelPrices = { currency: 'EUR', models: { mine: { input: 2, output: 3, cachedInput: 1 } } }

test('a list price holds for the versions of a model, the longest name first', () => {
  expect(costOf('models/gemini-2.5-flash-001', million)).toEqual({ amount: 2.8, currency: 'USD' })
  expect(costOf('gemini-2.5-flash-lite', million)).toEqual({ amount: 0.5, currency: 'USD' })
  expect(costOf('offline', million)).toEqual({ amount: 0, currency: 'USD' })
})

test.each([
  ['claude-sonnet-4-5-20250929', 18],
  ['anthropic.claude-sonnet-4-20250514-v1:0', 18],
  ['claude-sonnet-4@20250514', 18],
  ['openai/gpt-4o-2024-08-06', 12.5],
  ['openai:gpt-4o-mini', 0.75],
  ['gemini-2.5-flash-preview-09-2025', 2.8],
])('a version has the price of its model: %s', (model, amount) => expect(costOf(model, million)?.amount).toBe(amount))

test.each([
  'gpt-4.1-nano',
  'gpt-4o-audio-preview',
  'gemini-2.5-flash-image',
  'gemini-2.5-pro-preview-tts',
  'ft:gpt-4o-mini-2024-07-18:org::id',
  'my-gpt-4o',
])('another model with such a name has no listed price: %s', (model) => expect(costOf(model, million)).toBeUndefined())

test('input that the provider had cached costs less by the list, too', () => {
  expect(costOf('gpt-4o', { inputTokens: 1_000_000, cachedInputTokens: 400_000 })?.amount).toBe(2)
})

test('an own price wins, for exactly its model, and knows cached input', () => {
  expect(costOf('mine', { ...million, cachedInputTokens: 500_000, reasoningTokens: 1_000_000 }, own)).toEqual({
    amount: 7.5,
    currency: 'EUR',
  })
  expect(costOf('gpt-4o', million, { currency: 'USD', models: { 'gpt-4o': { input: 1, output: 1 } } })?.amount).toBe(2)
})

test('prices in another currency are not mixed with the list, and an unknown model has no cost', () => {
  expect(costOf('gpt-4o', million, own)).toBeUndefined()
  expect(costOf('gpt-4o', million, { currency: 'USD', models: {} })?.amount).toBe(12.5)
  expect(costOf('unheard-of', million)).toBeUndefined()
  expect(costOf('toString', million, own)).toBeUndefined()
  expect(costOf('mine', {}, own)).toEqual({ amount: 0, currency: 'EUR' })
})

test('a cost is written one way', () => {
  const texts = [0, 12.4, 0.5, 0.0042, 0.000_000_000_000_01].map((amount) => costText({ amount, currency: 'USD' }))
  expect(texts).toEqual(['$0.00', '$12.40', '$0.50', '$0.0042', '$0.000000000000'])
  expect(costText({ amount: 0.5, currency: 'CHF' })).toBe('0.50 CHF')
  expect(costsText(undefined)).toBe('–')
  expect(costsText([])).toBe('–')
  expect(
    costsText([
      { amount: 2, currency: 'USD' },
      { amount: 1, currency: 'EUR' },
    ]),
  ).toBe('$2.00 + €1.00')
})
