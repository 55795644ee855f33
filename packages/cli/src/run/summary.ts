import { fold, type Recorded, usageOf, usageView } from '@millrace/core'
import { costOf } from '@millrace/server'
import { type Colours, counted, durationText, visible } from '../terminal.ts'

/** How the run ended, how long it took, and what it used. */
export function runSummary(rows: readonly Recorded[], colours: Colours): string {
  const end = rows.findLast(({ event }) => event.kind === 'run.finished')
  if (end?.event.kind !== 'run.finished') return ''
  const { outcome, error } = end.event
  const { total } = fold(usageView, rows)
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
    ...costText(rows),
  ]
  const why = error === undefined || outcome === 'cancelled' ? '' : `\n${colours.bad(visible(error.message))}`
  return `\n${figures.join(colours.faint(' · '))}${why}`
}

/** The cost, where the price of every model is known. */
function costText(rows: readonly Recorded[]): readonly string[] {
  const models = new Set<string>()
  let sum = 0
  for (const { event } of rows) {
    if (event.kind !== 'agent' || event.event.partial === true) continue
    const usage = usageOf(event.event.usageMetadata)
    if (usage === undefined) continue
    const model = event.event.modelVersion ?? ''
    const cost = costOf(model, usage)
    if (cost === undefined) return []
    models.add(model)
    sum += cost
  }
  if (models.size === 0) return []
  return models.size === 1 && models.has('offline') ? ['offline model, no cost'] : [`$${sum.toFixed(4)}`]
}
