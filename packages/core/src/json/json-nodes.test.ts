import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseJson } from './json.ts'
import { holdsMore, jsonNodes, maxJsonNodes } from './json-nodes.ts'

/** How many values there are, counted in the value itself. */
function count(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, item) => sum + count(item), 1)
}

test('counts at least the values of any JSON text, and at most one more for each container', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const nodes = jsonNodes(JSON.stringify(value))
      expect(nodes).toBeGreaterThanOrEqual(Math.ceil(count(value) / 2))
      expect(nodes).toBeLessThanOrEqual(2 * count(value))
    }),
  )
  expect(jsonNodes('"a,b\\",[{\\\\"')).toBe(1)
  expect(jsonNodes('["\\\\",1]')).toBe(3)
  expect(jsonNodes('"never closed, [')).toBe(1)
})

test('a text with too many values is refused before it is parsed', () => {
  const lists = (length: number): string => `[${new Array(length).fill('[]').join(',')}]`
  expect(parseJson(lists(maxJsonNodes / 2 - 1))).toHaveProperty('value')
  expect(parseJson(lists(maxJsonNodes))).toEqual({ reason: `more than ${maxJsonNodes} values` })
  expect(parseJson(lists(maxJsonNodes), undefined, Number.POSITIVE_INFINITY)).toHaveProperty('value')
  expect(parseJson(JSON.stringify('x'.repeat(4 * maxJsonNodes)))).toHaveProperty('value')
  expect(holdsMore('[1,2,3]', 2)).toBe(true)
  expect(holdsMore('[1,2,3]', 4)).toBe(false)
})
