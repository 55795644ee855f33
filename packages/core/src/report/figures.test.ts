import { expect, test } from 'vitest'
import { spanText } from './figures.ts'

test.each([
  [999.6, '1.0 s'],
  [3200, '3.2 s'],
  [59_960, '1 m 00 s'],
  [119_700, '2 m 00 s'],
  [3_599_700, '1 h 00 m'],
  [4_500_000, '1 h 15 m'],
  [183_600_000, '2 d 3 h'],
])('%d ms are written as on the page: %s', (ms, text) => {
  expect(spanText(ms)).toBe(text)
})
