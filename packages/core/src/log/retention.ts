import type { RowKind, RunEvent } from '../event/run-event.ts'
import { isAggregate, isPartial } from '../event/streaming.ts'

/**
 * The mark of an event. Retention lives on it (SPEC 2.9): a `partial` may go once a `whole` of the same run and message
 * is there and the run has its `end`. A message that was cut, or whose aggregate carries no text, exists in its
 * partials alone: they stay, and so every view stays as it is (SPEC 5.3).
 */
export function rowKindOf(event: RunEvent): RowKind {
  if (event.kind === 'run.started') return 'start'
  if (event.kind === 'run.finished') return 'end'
  if (event.kind !== 'agent') return 'other'
  if (isPartial(event.event)) return 'partial'
  return isAggregate(event.event) ? 'whole' : 'other'
}
