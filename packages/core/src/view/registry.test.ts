import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chaos, sessions } from '../../../../test/kit/arbitrary-events.ts'
import { views } from './registry.ts'
import { fold, type View } from './view.ts'

const all: readonly View<unknown>[] = Object.values(views)

test('a view is registered under its own name', () => {
  expect(all.length).toBeGreaterThan(0)
  for (const [name, view] of Object.entries(views)) expect(view.name).toBe(name)
})

describe.each(all)('$name', (view) => {
  test('SPEC 5.6: no sequence of events throws, and the result can be printed', () => {
    fc.assert(
      fc.property(fc.oneof(chaos(), sessions()), (rows) => {
        expect(typeof JSON.stringify(fold(view, rows))).toBe('string')
      }),
      { numRuns: 300 },
    )
  })

  test('SPEC 5.1: folding in any batches gives the same, and an earlier state can be folded on from twice', () => {
    fc.assert(
      fc.property(fc.oneof(chaos(), sessions()), fc.array(fc.nat({ max: 80 }), { maxLength: 4 }), (rows, cuts) => {
        const whole = fold(view, rows)
        let state = view.initial
        let from = 0
        for (const cut of [...cuts.toSorted((a, b) => a - b), rows.length]) {
          const to = Math.min(cut, rows.length)
          const printed = JSON.stringify(state)
          fold(view, rows.slice(from, to).toReversed(), state)
          fold(view, rows, state)
          expect(JSON.stringify(state)).toBe(printed)
          state = fold(view, rows.slice(from, to), state)
          from = Math.max(from, to)
        }
        expect(state).toEqual(whole)
        expect(JSON.stringify(state)).toBe(JSON.stringify(whole))
      }),
      { numRuns: 150 },
    )
  })
})
