import { readdirSync, readFileSync } from 'node:fs'
import { type Draft, fold, type Recorded, type RunEvent, type View } from '@millrace/core'
import { expect, test } from 'vitest'
import { recorded } from './dialect-contract.ts'
import { loadVectors } from './vectors.ts'

/** A view's case as data: the events, and what the printed view must contain. */
export interface ViewVector {
  readonly name: string
  readonly note: string
  readonly rows: readonly Recorded[]
  readonly expect: Readonly<Record<string, unknown>>
}
interface ViewVectorFile {
  readonly note: string
  readonly run?: string
  /** Events of one run, drafts that name their own, or whole rows with their seq. */
  readonly events?: readonly (RunEvent | Draft | Recorded)[]
  /** Or the events of a dialect's vector: `adk/seed-004-recovery`. */
  readonly from?: string
  readonly expect: Readonly<Record<string, unknown>>
}

export function loadViewVectors(view: string): readonly ViewVector[] {
  const folder = new URL(`../../vectors/views/${view}/`, import.meta.url)
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => {
      const {
        note,
        run = 'r1',
        events,
        from,
        expect,
      } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as ViewVectorFile
      const [dialect = '', name] = from?.split('/') ?? []
      const drafts =
        from === undefined
          ? (events ?? []).map((event) => ('kind' in event ? { run, event } : event))
          : loadVectors(dialect).find((vector) => vector.name === name)!.drafts
      const rows = recorded(drafts).map((row, i) => ({ ...row, ...drafts[i] }))
      return { name: file.replace('.json', ''), note, rows, expect }
    })
}

/** For a view whose vectors hold its whole state as REST prints it: the test of all of them, in one line. */
export function describeView(view: View<unknown>): void {
  const vectors = loadViewVectors(view.name)
  test('there are vectors', () => expect(vectors.length).toBeGreaterThan(0))
  test.each(vectors)('$name', ({ rows, expect: expected }) => {
    expect(printed(fold(view, rows))).toEqual(expected)
  })
}

export function printed(state: unknown): unknown {
  return JSON.parse(JSON.stringify(state))
}
