import { expect, test } from 'vitest'
import { beginsWith } from './begins-with.ts'

test.each([
  ['abc', 'ab'],
  ['abc', 'abc'],
  ['abc', ''],
  ['abc', 'abd'],
  ['ab', 'abc'],
  ['', 'a'],
])('%j and %j: as startsWith', (text, start) => {
  expect(beginsWith(text, start)).toBe(text.startsWith(start))
})
