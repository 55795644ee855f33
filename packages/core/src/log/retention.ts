import type { RunEvent } from '../event/run-event.ts'

/**
 * What retention must know of an event (SPEC 2.9): `partial` may go once a `whole` of the same run and message is
 * there and the run has its `end`. A message that was cut, or whose aggregate carries no text, exists in its partials
 * alone: they stay, and so every view stays as it is (SPEC 5.3).
 */
export type Mark = 'partial' | 'whole' | 'end' | 'other'

export function markOf(event: RunEvent): Mark {
  if (event.kind === 'run.finished') return 'end'
  if (event.kind !== 'agent') return 'other'
  if (event.event.partial === true) return 'partial'
  const parts = event.event.content?.parts
  return Array.isArray(parts) && parts.some((part) => (part?.text ?? '') !== '') ? 'whole' : 'other'
}
