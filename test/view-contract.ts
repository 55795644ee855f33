import { readdirSync, readFileSync } from 'node:fs'
import { type Draft, fold, type Recorded, type RunEvent, type View } from '@millrace/core'
import { describe, expect, test } from 'vitest'

/** A view's case as data: the events, and the state they fold to as REST prints it. */
export interface ViewVector {
  readonly name: string
  readonly note: string
  readonly rows: readonly Recorded[]
  readonly state: unknown
}

interface ViewVectorFile {
  readonly note: string
  /** The run of the events that name none. */
  readonly run?: string
  readonly events: readonly (RunEvent | Draft)[]
  readonly state: unknown
}

/** Seqs count from 1, `at` from 1000 in steps of 10, where an event does not say otherwise. */
export function loadViewVectors(view: string): readonly ViewVector[] {
  const folder = new URL(`../vectors/views/${view}/`, import.meta.url)
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => {
      const {
        note,
        run = 'run-1',
        events,
        state,
      } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as ViewVectorFile
      const rows = events.map((event, i): Recorded => {
        const draft: Draft = 'kind' in event ? { run, event } : event
        return { seq: draft.seq ?? i + 1, at: draft.at ?? 1000 + 10 * i, run: draft.run, event: draft.event }
      })
      return { name: file.replace('.json', ''), note, rows, state }
    })
}

/** What every view must do with its vectors: run by each view's test file in one line. */
export function describeView(view: View<unknown>): void {
  const vectors = loadViewVectors(view.name)
  test('there are vectors', () => expect(vectors.length).toBeGreaterThan(0))
  describe.each(vectors)('$name', ({ rows, state }) => {
    test('folds to the state of the vector', () => {
      expect(printed(fold(view, rows))).toEqual(state)
    })
  })
}

export function printed(state: unknown): unknown {
  return JSON.parse(JSON.stringify(state))
}
