import type { Draft, Recorded, RunEvent } from '../../event/run-event.ts'
import { recorded } from '../recorded.ts'

/** A view's case as data: the rows of a log, and what the printed view must contain. */
export interface ViewVector {
  readonly name: string
  readonly note: string
  readonly rows: readonly Recorded[]
  readonly expect: Readonly<Record<string, unknown>>
}

/** The same case as a person writes it in a JSON file. */
export interface ViewVectorFile {
  readonly note: string
  readonly run?: string
  /** Events of `run` (default `r1`), drafts that name their own run, or whole rows with their seq. */
  readonly events?: readonly (RunEvent | Draft | Recorded)[]
  readonly expect: Readonly<Record<string, unknown>>
}

export function viewVector(name: string, { note, run = 'r1', events = [], expect }: ViewVectorFile): ViewVector {
  const drafts = events.map((event) => ('kind' in event ? { run, event } : event))
  const rows = recorded(drafts).map((row, i) => ({ ...row, ...drafts[i] }))
  return { name, note, rows, expect }
}
