import { expect, test } from 'vitest'
import { moment } from './duration.ts'

test.each([
  [640, '640 ms'],
  [3200, '3.2 s'],
  [60_000, '1:00'],
  [65_000, '1:05'],
  [65_200, '1:05.2'],
  [1_258_250, '20:58.25'],
])('%d ms after the start is %s', (ms, text) => {
  expect(moment(ms)).toBe(text)
})
