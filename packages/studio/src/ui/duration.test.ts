import { expect, test } from 'vitest'
import { duration, moment } from './duration.ts'

test.each([
  [640, '640 ms'],
  [3200, '3.2 s'],
  [60_000, '1:00'],
  [65_000, '1:05'],
  [65_200, '1:05.2'],
  [1_258_250, '20:58.25'],
  [3_600_000, '1:00:00'],
  [4_505_200, '1:15:05.2'],
])('%d ms after the start is %s', (ms, text) => {
  expect(moment(ms)).toBe(text)
})

test.each([
  [1850, 10, '1.85 s'],
  [1900, 10, '1.90 s'],
  [1902, 1, '1.902 s'],
  [640, 1, '640 ms'],
  [65_250, 10, '1:05.25'],
])('%d ms after the start, when %d ms count, is %s', (ms, unit, text) => {
  expect(moment(ms, unit)).toBe(text)
})

test.each([
  [59_960, '1 m 00 s'],
  [65_000, '1 m 05 s'],
  [119_700, '2 m 00 s'],
  [3_599_700, '1 h 00 m'],
  [3_600_000, '1 h 00 m'],
  [4_505_000, '1 h 15 m'],
  [172_830_000, '2 d 0 h'],
])('%d ms take %s', (ms, text) => {
  expect(duration(ms)).toBe(text)
})
