import { expect, test } from 'vitest'
import { printSides, readSides } from './sides.ts'

test('sides come back as they were printed', () => {
  const sides = [{ session: 'a,b:c' }, { session: 's', run: 'r:1' }, { session: '%' }]
  expect(readSides(printSides(sides), 'open')).toEqual(sides)
})

test('one session is compared with the open one, also by an older link', () => {
  expect(readSides('other', 'open')).toEqual([{ session: 'open' }, { session: 'other' }])
  expect(readSides('50%', 'open')).toEqual([{ session: 'open' }, { session: '50%' }])
})
