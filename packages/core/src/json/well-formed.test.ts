import { expect, test } from 'vitest'
import { wellFormed } from './well-formed.ts'

test('halves of surrogate pairs are replaced, and whole ones stay', () => {
  expect(wellFormed('a\uD800b\uDC00')).toBe('a\uFFFDb\uFFFD')
  expect(wellFormed('plain 😀 text')).toBe('plain 😀 text')
  expect(() => encodeURIComponent(wellFormed('\uDFFF\uD83D'))).not.toThrow()
})
