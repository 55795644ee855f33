import { expect, test } from 'vitest'
import { shared } from './structural-sharing.ts'

const rows = (...texts: string[]) => texts.map((text, key) => ({ key, text }))

test('a list made anew is the old rows and the one that changed', () => {
  const before = rows('a', 'b', 'c')
  const after = rows('a', 'b', 'c and more')
  const result = shared(before, after)
  expect(result).toEqual(after)
  expect(result.map((row, i) => row === before[i])).toEqual([true, true, false])
  expect(result[2]).toBe(after[2])
})

test('what says the same is the same, lists within objects too', () => {
  const before = { running: true, items: rows('a', 'b') }
  expect(shared(before, { running: true, items: rows('a', 'b') })).toBe(before)
  const stopped = shared(before, { running: false, items: rows('a', 'b') })
  expect(stopped.running).toBe(false)
  expect(stopped.items).toBe(before.items)
})

test.each([
  ['a shorter list', [1, 2], [1]],
  ['a longer list', [1], [1, 2]],
  ['a field less', { a: 1, b: undefined }, { a: 1 }],
  ['another field', { a: undefined }, { b: undefined }],
  ['a list for an object', {}, []],
  ['a map', new Map(), new Map()],
  ['nothing before', undefined, { a: 1 }],
  ['nothing after', { a: 1 }, null],
])('%s is what it is', (_, before, after) => expect(shared<unknown>(before, after)).toBe(after))

test('objects of a view that changed are not copied', () => {
  const kept = { key: 0 }
  const changed = { key: 1, text: 'b', within: kept }
  const result = shared([kept, { key: 1, text: 'a', within: kept }], [kept, changed])
  expect(result[1]).toBe(changed)
})
