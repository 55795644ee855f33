import { expect, test } from 'vitest'
import { bareString } from './bare-string.ts'

const head = '{"delta":"'

test.each([
  ['a word', '{"delta":"word "}', 'word '],
  ['nothing', '{"delta":""}', ''],
  ['a letter outside ASCII', '{"delta":"Überblick 😀\u2028"}', 'Überblick 😀\u2028'],
])('%s is read as JSON.parse reads it', (_name, json, text) => {
  expect(bareString(json, head)).toBe(text)
  expect(JSON.parse(json)).toEqual({ delta: text })
})

test.each([
  ['an escape', '{"delta":"a\\n"}'],
  ['a quote that is escaped', '{"delta":"a\\""}'],
  ['another field', '{"delta":"a","more":"b"}'],
  ['a raw control character, which is no JSON', '{"delta":"a\tb"}'],
  ['another beginning', '{"gamma":"a"}'],
  ['white space at the end', '{"delta":"a"} '],
  ['a value that is no string', '{"delta":1}'],
  ['half a frame', '{"delta":"'],
  ['a quote without its brace', '{"delta":"a""'],
])('%s is left to JSON.parse', (_name, json) => {
  expect(bareString(json, head)).toBeUndefined()
})
