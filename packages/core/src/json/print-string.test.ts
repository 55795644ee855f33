import { expect, test } from 'vitest'
import { printString } from './print-string.ts'

test.each([
  '',
  'word ',
  'Überblick',
  '"',
  'a\\b',
  'a\nb',
  '\u001f',
  '\u007f\u2028',
  '😀',
  '\ud83d',
  'a long text '.repeat(9),
])('%j is printed as JSON.stringify prints it', (text) => {
  expect(printString(text)).toBe(JSON.stringify(text))
})
