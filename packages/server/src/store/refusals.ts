import { MillraceError } from '@millrace/core'

export function notFound(id: string): MillraceError {
  return new MillraceError('not-found', `no session ${id}`, { session: id })
}

export function taken(id: string): MillraceError {
  return new MillraceError('conflict', `session ${id} exists`, { session: id })
}

export function hasActiveRun(id: string): MillraceError {
  return new MillraceError('busy', `session ${id} has an active run`, { session: id })
}

/** The time before which ended runs are pruned, as a number that SQL can compare with. */
export function pruneLimit(before: number): number {
  if (Number.isNaN(before))
    throw new MillraceError('invalid', '`before` must be a time in ms, not NaN', { field: 'before' })
  return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, before))
}
