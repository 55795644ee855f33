import { type Costs, callsView, costText, fold, type Recorded, usageView } from '@millrace/core'
import { type Colours, counted, durationText, visible } from '../terminal.ts'

/** How the run ended, how long it took, and what it used. */
export function runSummary(rows: readonly Recorded[], colours: Colours): string {
  const end = rows.findLast(({ event }) => event.kind === 'run.finished')
  if (end?.event.kind !== 'run.finished') return ''
  const { outcome, error } = end.event
  const { total, costs } = fold(usageView, rows)
  const took = end.at - (rows[0]?.at ?? end.at)
  const { modelCalls = 0, totalTokens = 0, inputTokens, outputTokens } = total
  const split =
    inputTokens === undefined || outputTokens === undefined
      ? ''
      : ` (${inputTokens.toLocaleString('en-US')} in, ${outputTokens.toLocaleString('en-US')} out)`
  const paint = outcome === 'done' ? colours.good : outcome === 'failed' ? colours.bad : colours.warn
  const word = outcome === 'interrupted' ? 'waits for an answer' : outcome
  const figures = [
    `${paint(word)} in ${durationText(took)}`,
    ...(modelCalls === 0 ? [] : [counted(modelCalls, 'model call')]),
    ...(totalTokens === 0 ? [] : [`${counted(totalTokens, 'token')}${split}`]),
    ...modelTexts(rows, costs),
  ]
  const why = error === undefined || outcome === 'cancelled' ? '' : `\n${colours.bad(visible(error.message))}`
  return `\n${figures.join(colours.faint(' · '))}${why}`
}

/** The models that were called, and what they cost by the prices that the server knew. */
function modelTexts(rows: readonly Recorded[], costs: Costs = []): readonly string[] {
  const calls = fold(callsView, rows).calls.toArray()
  const models = [...new Set(calls.flatMap(({ kind, name }) => (kind === 'model' ? [name] : [])))]
  if (models.length === 1 && models[0] === 'offline') return ['offline model, no cost']
  return [...models.map(visible), ...costs.map(costText)]
}
