import { plainJson } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonPieces } from './json-pieces.ts'

const text = (value: unknown): string => [...jsonPieces(value)].join('')

test('the pieces are what JSON.stringify prints, whatever the value', () => {
  fc.assert(
    fc.property(fc.anything({ withDate: true, withNullPrototype: true }), (value) => {
      fc.pre(JSON.stringify(value) !== undefined)
      expect(text(value)).toBe(JSON.stringify(value))
    }),
  )
  expect(text({ a: undefined, b: [undefined, () => 1], c: { toJSON: () => undefined }, d: Number.NaN })).toBe(
    '{"b":[null,null],"d":null}',
  )
  expect(text(undefined)).toBe('null')
})

test('no piece is much longer than 64 Ki characters, and 20,000 levels are printed', () => {
  const pieces = [...jsonPieces({ list: Array.from({ length: 100_000 }, (_, i) => ({ i })) })]
  expect(pieces.length).toBeGreaterThan(10)
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(70_000)
  let deep: unknown = 1
  for (let i = 0; i < 20_000; i++) deep = [deep]
  expect(text(deep)).toBe(`${'['.repeat(20_000)}1${']'.repeat(20_000)}`)
  expect(plainJson(JSON.parse(pieces.join('')))).toHaveProperty('list.99999', { i: 99_999 })
})
