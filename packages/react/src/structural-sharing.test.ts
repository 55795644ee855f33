import { expect, test } from 'vitest'
import { shareUnchanged } from './structural-sharing.ts'

const rows = (...texts: string[]) => texts.map((text, key) => ({ key, text }))

test('a rebuilt list consists of the old rows and the row that changed', () => {
  const before = rows('a', 'b', 'c')
  const after = rows('a', 'b', 'c and more')
  const result = shareUnchanged(before, after)
  expect(result).toEqual(after)
  expect(result.map((row, i) => row === before[i])).toEqual([true, true, false])
  expect(result[2]).toBe(after[2])
})

test('an equal value is the earlier object, including lists within objects', () => {
  const before = { running: true, items: rows('a', 'b') }
  expect(shareUnchanged(before, { running: true, items: rows('a', 'b') })).toBe(before)
  const stopped = shareUnchanged(before, { running: false, items: rows('a', 'b') })
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
])('%s is returned as it is', (_, before, after) => expect(shareUnchanged<unknown>(before, after)).toBe(after))

test('changed objects of a view are not copied', () => {
  const kept = { key: 0 }
  const changed = { key: 1, text: 'b', within: kept }
  const result = shareUnchanged([kept, { key: 1, text: 'a', within: kept }], [kept, changed])
  expect(result[1]).toBe(changed)
})
