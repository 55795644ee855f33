import { type Costs, callCost, costsText, isUnseenEnd, type ModelPrices, spentOn, type Usage } from '@millrace/core'
import { duration } from '../ui/duration.ts'
import { FigureList } from '../ui/figure-list.tsx'
import { usePrices } from '../usage/prices.ts'
import { callsIn, type SessionStep } from './steps.ts'

const whole = new Intl.NumberFormat('en')

/** What a step took and cost. A figure that the log does not have is left out. */
export function Figures({ step, steps }: { readonly step: SessionStep; readonly steps: readonly SessionStep[] }) {
  const prices = usePrices()
  const cells = cellsOf(step, steps, prices).filter((cell) => cell[1] !== undefined)
  if (cells.length === 0) return null
  return (
    <>
      <FigureList figures={cells} className="step-figures" testId="step-figures" />
      {step.call?.remote === true && (
        <p className="nothing" data-testid="step-arrival">
          Another server made this call. Its times were measured on arrival here.
        </p>
      )}
    </>
  )
}

type Cell = readonly [name: string, value: string | undefined]

function cellsOf(
  { call, execution }: SessionStep,
  steps: readonly SessionStep[],
  prices: ModelPrices | undefined,
): readonly Cell[] {
  // The end of a step that was cut off was written when the server started again.
  // So was nothing measured of a step in a recording without times, which would take 0 ms.
  const took = call?.duration ?? (isUnseenEnd(execution?.error) ? undefined : execution?.duration || undefined)
  const time: Cell = ['Duration', took === undefined ? undefined : duration(took)]
  if (call !== undefined) {
    const wait: Cell = ['First token', call.firstToken === undefined ? undefined : duration(call.firstToken)]
    const cost = callCost(call, prices)
    const paid: Cell = ['Cost', costs(cost === undefined ? [] : [cost])]
    return [time, wait, ...tokenCells(call.usage ?? {}), paid, ['Finish', call.finishReason]]
  }
  const models = (execution === undefined ? [] : callsIn(steps, execution)).flatMap(({ call: inside }) =>
    inside?.kind === 'model' ? [inside] : [],
  )
  const sum = (field: 'inputTokens' | 'outputTokens'): number | undefined =>
    models.some(({ usage }) => usage?.[field] !== undefined)
      ? models.reduce((total, { usage }) => total + (usage?.[field] ?? 0), 0)
      : undefined
  const spent = spentOn(models, prices)
  const named: Cell = [
    'Model',
    spent.models.length === 0 ? undefined : spent.models.map(({ model }) => model).join(', '),
  ]
  const calls: Cell = ['Model calls', models.length === 0 ? undefined : whole.format(models.length)]
  const inputTokens = sum('inputTokens')
  const outputTokens = sum('outputTokens')
  return [
    named,
    time,
    calls,
    ...tokenCells({
      ...(inputTokens === undefined ? {} : { inputTokens }),
      ...(outputTokens === undefined ? {} : { outputTokens }),
    }),
    ['Cost', costs(spent.total)],
  ]
}

function tokenCells({ inputTokens, outputTokens, cachedInputTokens, reasoningTokens }: Usage): readonly Cell[] {
  return [
    ['Tokens in', count(inputTokens)],
    ['Cached', count(cachedInputTokens)],
    ['Tokens out', count(outputTokens)],
    ['Reasoning', count(reasoningTokens)],
  ]
}

function count(value: number | undefined): string | undefined {
  return value === undefined ? undefined : whole.format(value)
}

function costs(list: Costs): string | undefined {
  return list.length === 0 ? undefined : costsText(list)
}
