import type { AdkEvent } from '../../event/adk-event.ts'
import type { Recorded } from '../../event/run-event.ts'
import { isPartial } from '../../event/streaming.ts'

/**
 * The same log after a prune (SPEC 2.9): the partials of every message that also came whole are gone, and so are
 * partials without text. Seqs keep their numbers.
 */
export function withoutPartials(rows: readonly Recorded[]): readonly Recorded[] {
  const whole = new Set<string>()
  for (const { run, event } of rows) {
    if (event.kind === 'agent' && !isPartial(event.event) && hasText(event.event)) whole.add(`${run} ${event.message}`)
  }
  return rows.filter(({ run, event }) => {
    if (event.kind !== 'agent' || !isPartial(event.event)) return true
    return hasText(event.event) && !whole.has(`${run} ${event.message}`)
  })
}

function hasText({ content }: AdkEvent): boolean {
  return content?.parts?.some((part) => (part?.text ?? '') !== '') === true
}
