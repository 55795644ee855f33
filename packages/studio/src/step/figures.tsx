import type { Cost, Usage } from '@millrace/core'
import { duration } from '../ui/duration.ts'
import { callsIn, type SessionStep } from './steps.ts'

const whole = new Intl.NumberFormat('en')

/** What a step took and cost. A figure that the log does not have is left out. */
export function Figures({ step, steps }: { readonly step: SessionStep; readonly steps: readonly SessionStep[] }) {
  const cells = cellsOf(step, steps).filter((cell) => cell[1] !== undefined)
  if (cells.length === 0) return null
  return (
    <dl className="totals step-figures" data-testid="step-figures">
      {cells.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="number">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

type Cell = readonly [name: string, value: string | undefined]

function cellsOf({ call, execution }: SessionStep, steps: readonly SessionStep[]): readonly Cell[] {
  const took = call?.duration ?? execution?.duration
  const time: Cell = ['Duration', took === undefined ? undefined : duration(took)]
  if (call !== undefined) {
    const wait: Cell = ['First token', call.firstToken === undefined ? undefined : duration(call.firstToken)]
    return [time, wait, ...tokenCells(call.usage ?? {}), ['Cost', costText(call.cost)], ['Finish', call.finishReason]]
  }
  const models = (execution === undefined ? [] : callsIn(steps, execution)).flatMap(({ call: inside }) =>
    inside?.kind === 'model' ? [inside] : [],
  )
  const sum = (field: 'inputTokens' | 'outputTokens'): number | undefined =>
    models.some(({ usage }) => usage?.[field] !== undefined)
      ? models.reduce((total, { usage }) => total + (usage?.[field] ?? 0), 0)
      : undefined
  const calls: Cell = ['Model calls', models.length === 0 ? undefined : whole.format(models.length)]
  const inputTokens = sum('inputTokens')
  const outputTokens = sum('outputTokens')
  return [
    time,
    calls,
    ...tokenCells({
      ...(inputTokens === undefined ? {} : { inputTokens }),
      ...(outputTokens === undefined ? {} : { outputTokens }),
    }),
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

function costText(cost: Cost | undefined): string | undefined {
  return cost === undefined ? undefined : `${cost.amount.toPrecision(3)} ${cost.currency}`
}
