import type { Cost } from '../event/call-record.ts'
import { costOf, type ModelPrices } from '../event/price.ts'
import type { Usage } from '../event/run-event.ts'
import { addUsage } from '../event/usage.ts'
import type { Call } from './calls/state.ts'
import type { Costs } from './usage/state.ts'

/** What the recorded calls of models used and cost, by model, agent and run. */
export interface Spent {
  readonly models: readonly ModelSpent[]
  readonly agents: ReadonlyMap<string, Costs>
  readonly runs: ReadonlyMap<string, Costs>
  readonly total: Costs
}
export interface ModelSpent {
  readonly model: string
  readonly usage: Usage
  readonly costs: Costs
}

/** With prices of the reader, calls of their models cost that, whatever the log says. */
export function spentOn(calls: Iterable<Call>, prices?: ModelPrices): Spent {
  const models = new Map<string, ModelSpent>()
  const agents = new Map<string, Costs>()
  const runs = new Map<string, Costs>()
  let total: Costs = []
  for (const call of calls) {
    if (call.kind !== 'model') continue
    const { name, agent, run, usage } = call
    const cost = callCost(call, prices)
    const before = models.get(name) ?? { model: name, usage: {}, costs: [] }
    models.set(name, {
      model: name,
      usage: addUsage(before.usage, { ...usage, modelCalls: 1 }),
      costs: addCost(before.costs, cost),
    })
    if (cost === undefined) continue
    agents.set(agent, addCost(agents.get(agent), cost))
    runs.set(run, addCost(runs.get(run), cost))
    total = addCost(total, cost)
  }
  return { models: [...models.values()], agents, runs, total }
}

/** What a call cost: by the reader's price of its model, else as it was recorded. */
export function callCost(
  { kind, name, usage, cost }: Pick<Call, 'kind' | 'name' | 'usage' | 'cost'>,
  prices?: ModelPrices,
): Cost | undefined {
  if (kind !== 'model' || prices === undefined || !Object.hasOwn(prices.models, name) || usage === undefined)
    return cost
  return costOf(name, usage, prices)
}

/** The sum, one for each currency. */
export function addCost(costs: Costs = [], cost: Cost | undefined): Costs {
  if (cost === undefined) return costs
  const { amount, currency } = cost
  const at = costs.findIndex((each) => each.currency === currency)
  if (at < 0) return [...costs, { amount, currency }]
  return costs.with(at, { currency, amount: (costs[at]?.amount ?? 0) + amount })
}
