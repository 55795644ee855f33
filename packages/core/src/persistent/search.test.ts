import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstIndexWhere } from './search.ts'

test('it finds what findIndex finds', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer(), (values, limit) => {
      const sorted = values.toSorted((a, b) => a - b)
      const found = sorted.findIndex((value) => value > limit)
      const at = firstIndexWhere(sorted.length, (index) => (sorted[index] ?? 0) > limit)
      expect(at).toBe(found === -1 ? sorted.length : found)
    }),
  )
})
