import type { Recorded } from '../../event/run-event.ts'
import { fold, type View } from '../../view/view.ts'
import { dice, shuffled } from '../dice.ts'
import type { Runner } from '../runner.ts'
import { withoutPartials } from './prune.ts'
import type { ViewVector } from './vector.ts'

export { withoutPartials } from './prune.ts'
export { type ViewVector, type ViewVectorFile, viewVector } from './vector.ts'

export interface ViewComparison<S> {
  /** Compares a state with what a vector expects. Default: the printed state equals it. */
  matches?(state: S, expected: ViewVector['expect']): void
  /** The part of a state that a prune of partials must not change (SPEC 5.3). Default: all of it. */
  lasting?(state: S): unknown
}

/**
 * What every view must do (SPEC 5), in executable form, for each vector.
 *
 * ```ts
 * import { describeView, viewVector } from '@millrace/core/testing'
 * import { describe, expect, test } from 'vitest'
 * import two from './two-runs.json' with { type: 'json' }
 * import { runsView } from './runs.ts'
 * describeView({ describe, expect, test }, runsView, [viewVector('two runs', two)])
 * ```
 */
export function describeView<S>(
  runner: Runner,
  view: View<S>,
  vectors: readonly ViewVector[],
  comparison: ViewComparison<S> = {},
): void {
  const { describe, expect, test } = runner
  const { matches = (state, expected) => expect(printed(state)).toEqual(expected) } = comparison
  describe(`View: ${view.name}`, () => {
    test('there are vectors', () => expect(vectors.length).toBeGreaterThan(0))
    for (const { name, note, rows, expect: expected } of vectors) {
      describe(`${name}: ${note}`, () => {
        test('is what the vector expects', () => matches(fold(view, rows), expected))
        foldContract(runner, view, rows, comparison.lasting ?? printed)
      })
    }
  })
}

function foldContract<S>(
  { expect, test }: Runner,
  view: View<S>,
  rows: readonly Recorded[],
  lasting: (state: S) => unknown,
): void {
  test('SPEC 5.1: folding in any batches gives the same, and never changes an earlier state', () => {
    const whole = printed(fold(view, rows))
    const steps = Math.max(1, Math.floor(rows.length / 10))
    for (let cut = 0; cut <= rows.length; cut += steps) {
      const early = fold(view, rows.slice(0, cut))
      const before = printed(early)
      expect(printed(fold(view, rows.slice(cut), early))).toEqual(whole)
      expect(printed(early)).toEqual(before)
    }
  })

  if (view.dependsOnPartials !== true) {
    test('SPEC 5.3: a log without the partials of finished messages gives the same', () => {
      expect(lasting(fold(view, withoutPartials(rows)))).toEqual(lasting(fold(view, rows)))
    })
  }

  test('SPEC 5.6: no order of events throws, and the result can be printed', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const events = shuffled(dice(seed), rows)
      const mixed = events.map(({ run, event }, i) => ({ seq: i + 1, at: 1_700_000_000_000 + i, run, event }))
      expect(printed(fold(view, [...mixed, ...mixed])) === undefined).toBe(false)
    }
  })
}

/** A state as REST prints it. */
export function printed(state: unknown): unknown {
  return JSON.parse(JSON.stringify(state))
}
