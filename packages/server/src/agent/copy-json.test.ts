import type { Json } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { copyJson } from './copy-json.ts'

const byText = (value: unknown): unknown => {
  try {
    return { copy: JSON.parse(JSON.stringify(value)) }
  } catch {
    return 'refused'
  }
}
const byCopy = (value: unknown): unknown => {
  try {
    return { copy: copyJson(value as Json) }
  } catch {
    return 'refused'
  }
}

test('a copy is what JSON prints and reads, whatever the value', () => {
  const options = { withDate: true, withMap: true, withNullPrototype: true, withBigInt: true, withSparseArray: true }
  fc.assert(
    fc.property(fc.anything(options), (value) => {
      const expected = byText(value)
      const copy = byCopy(value)
      expect(copy).toStrictEqual(expected)
      expect(JSON.stringify(copy)).toBe(JSON.stringify(expected))
    }),
  )
})

const circle: Record<string, unknown> = {}
circle.self = [circle]

test.each([
  ['a circle', circle],
  ['a key that names the prototype', JSON.parse('{"__proto__":{"a":1},"b":2}')],
  ['a prototype with enumerable keys', Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } })],
  [
    'a class',
    new (class Message {
      role = 'user'
      toJSON(): object {
        return { printed: true }
      }
    })(),
  ],
  ['numbers', [0, -0, 1e21, Number.NaN, Number.POSITIVE_INFINITY]],
  ['nothing', [undefined, { a: undefined }, () => 1, Symbol('s')]],
])('%s', (_, value) => {
  expect(byCopy(value)).toStrictEqual(byText(value))
})

test('a change of the original does not reach the copy', () => {
  const original = { role: 'user', parts: [{ text: 'Hello' }] }
  const copy = copyJson(original)
  original.parts.push({ text: 'again' })
  expect(copy).toEqual({ role: 'user', parts: [{ text: 'Hello' }] })
})
