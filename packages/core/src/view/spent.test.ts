import { expect, test } from 'vitest'
import type { Call } from './calls/state.ts'
import { spentOn } from './spent.ts'

const call = (more: Partial<Call>): Call => ({
  key: 'r1/c1',
  kind: 'model',
  run: 'r1',
  call: 'c1',
  agent: 'writer',
  name: 'm1',
  status: 'ok',
  startSeq: 1,
  startedAt: 1,
  usage: { inputTokens: 1_000_000, outputTokens: 0 },
  ...more,
})
const calls: readonly Call[] = [
  call({ cost: { amount: 1, currency: 'USD' } }),
  call({ run: 'r2', cost: { amount: 2, currency: 'USD' } }),
  call({ agent: 'reader', name: 'm2', cost: { amount: 3, currency: 'EUR' } }),
  call({ name: 'm3' }),
  call({ kind: 'tool', name: 'look', cost: { amount: 9, currency: 'USD' } }),
]

test('costs add up by model, agent and run, one sum for each currency', () => {
  const { models, agents, runs, total } = spentOn(calls)
  expect(models).toEqual([
    {
      model: 'm1',
      usage: { inputTokens: 2_000_000, outputTokens: 0, modelCalls: 2 },
      costs: [{ amount: 3, currency: 'USD' }],
    },
    {
      model: 'm2',
      usage: { inputTokens: 1_000_000, outputTokens: 0, modelCalls: 1 },
      costs: [{ amount: 3, currency: 'EUR' }],
    },
    { model: 'm3', usage: { inputTokens: 1_000_000, outputTokens: 0, modelCalls: 1 }, costs: [] },
  ])
  expect(agents.get('writer')).toEqual([{ amount: 3, currency: 'USD' }])
  expect(runs.get('r1')).toEqual([
    { amount: 1, currency: 'USD' },
    { amount: 3, currency: 'EUR' },
  ])
  expect(total).toEqual([
    { amount: 3, currency: 'USD' },
    { amount: 3, currency: 'EUR' },
  ])
})

test("the reader's price of a model wins over what the log says, and a call without tokens keeps its cost", () => {
  const prices = { currency: 'USD', models: { m1: { input: 7, output: 0 } } }
  expect(spentOn(calls, prices).runs.get('r2')).toEqual([{ amount: 7, currency: 'USD' }])
  const { usage: _, ...silent } = call({ cost: { amount: 1, currency: 'USD' } })
  expect(spentOn([silent], prices).total).toEqual([{ amount: 1, currency: 'USD' }])
})
