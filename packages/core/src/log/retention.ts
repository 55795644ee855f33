import type { RowKind, RunEvent } from '../event/run-event.ts'
import { isAggregate, isPartial } from '../event/streaming.ts'

/**
 * The kind of a row, which decides about retention (SPEC 2.9): a `partial` may be deleted once the log has a `whole` of
 * the same run and message and the `end` of the run. The text of a message that was cut, or whose aggregate has no text,
 * exists in its partials alone: they stay, so that no view changes (SPEC 5.3).
 */
export function rowKindOf(event: RunEvent): RowKind {
  if (event.kind === 'run.started') return 'start'
  if (event.kind === 'run.finished') return 'end'
  if (event.kind !== 'agent') return 'other'
  if (isPartial(event.event)) return 'partial'
  return isAggregate(event.event) ? 'whole' : 'other'
}
