import { describe, expect, test } from 'vitest'
import { isJsonObject, maxJsonDepth, parseJson, whyNotJson } from './json.ts'

const nested = (depth: number, open: string, close: string): string => open.repeat(depth) + close.repeat(depth)

describe('parseJson', () => {
  test('gives the value', () => {
    expect(parseJson('{"a":[1,null]}')).toEqual({ value: { a: [1, null] } })
    expect(parseJson('null')).toEqual({ value: null })
  })
  test.each(['', '{', '[DONE]', 'undefined', "{'a':1}"])('%j is not JSON', (text) => {
    expect(parseJson(text)).toEqual({ reason: 'not JSON' })
  })
  test('refuses what could not be printed again', () => {
    expect(parseJson(nested(maxJsonDepth, '[', ']'))).toHaveProperty('value')
    expect(parseJson(nested(maxJsonDepth + 1, '[', ']'))).toEqual({ reason: 'nested deeper than 512' })
    expect(parseJson(nested(20_000, '{"a":', '}').replace('}', '1}'))).toEqual({ reason: 'nested deeper than 512' })
    expect(parseJson(nested(100_000, '[', ']'))).toEqual({ reason: 'nested deeper than 512' })
  })
  test('a long value that is not deep is fine', () => {
    expect(parseJson(JSON.stringify({ text: 'x'.repeat(10_000_000) }))).toHaveProperty('value')
  })
})

test('whyNotJson names the place', () => {
  expect(whyNotJson({ a: [1, 'x', null, true, { b: undefined }] })).toBeUndefined()
  expect(whyNotJson({ a: [1, { b: Number.NaN }] })).toBe('.a[1].b: not a finite number')
  expect(whyNotJson({ a: { b: new Map() } })).toBe('.a.b: a Map, not JSON')
  for (const opaque of [new Set(), /x/, new Error('x'), Promise.resolve(), new Uint8Array(1), new ArrayBuffer(1)]) {
    expect(whyNotJson([opaque])).toBe(`[0]: a ${opaque.constructor.name}, not JSON`)
  }
  expect(whyNotJson(Object.assign(Object.create(null), { toJSON: () => 1 }))).toBe(': a Object, not JSON')
  expect(whyNotJson([new Date(0)])).toBe('[0]: a Date, not JSON')
  expect(whyNotJson({ toJSON: 'a key like any other' })).toBeUndefined()
  expect(whyNotJson(Object.assign(Object.create(null), { a: 1 }))).toBeUndefined()
  expect(whyNotJson(undefined)).toBe(': a undefined, not JSON')
})

test('isJsonObject is not fooled by arrays and null', () => {
  expect([{}, [], null, 'x', undefined].map(isJsonObject)).toEqual([true, false, false, false, false])
})
