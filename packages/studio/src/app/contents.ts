import { isModelCall, isPartial, type View } from '@millrace/core'

/** Which panels have anything to show. */
export interface Contents {
  readonly state: boolean
  readonly proof: boolean
  readonly plan: boolean
  readonly usage: boolean
}

/** One cheap fold for all tabs, so that a tab can be dimmed without loading its panel. */
export const contentsView: View<Contents> = {
  name: 'contents',
  initial: { state: false, proof: false, plan: false, usage: false },
  apply(before, { event }) {
    switch (event.kind) {
      case 'agent': {
        const { author, actions, usageMetadata } = event.event
        if (isPartial(event.event)) return before
        const wrote = Object.keys(actions?.stateDelta ?? {}).length > 0
        const used = usageMetadata !== undefined && usageMetadata !== null
        return noted(before, { state: wrote, usage: used, proof: author !== 'user' })
      }
      case 'run.started':
        return noted(before, { state: event.input.state !== undefined })
      case 'state':
        return noted(before, { state: true })
      case 'model.started':
      case 'log':
        return noted(before, { usage: isModelCall(event) })
      case 'run.finished':
        return noted(before, { usage: event.usage !== undefined })
      case 'tasks':
      case 'tasks.changed':
      case 'artifact':
      case 'data':
        return noted(before, { plan: true })
      default:
        return before
    }
  },
}

function noted(before: Contents, found: Partial<Contents>): Contents {
  const names = Object.keys(found) as (keyof Contents)[]
  if (names.every((name) => before[name] || found[name] !== true)) return before
  return Object.fromEntries(
    Object.entries(before).map(([name, known]) => [name, known || found[name as keyof Contents] === true]),
  ) as unknown as Contents
}
