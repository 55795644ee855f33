import { expect, test } from 'vitest'
import { PassingMap } from './passing-map.ts'

test('a passing map gives back what it holds, in the order in which it came', () => {
  const map = new PassingMap<string, number>()
  map.set('a', 1)
  map.set('b', 2)
  map.set('a', 3)
  expect([map.size, map.get('a'), map.get('c')]).toEqual([2, 3, undefined])
  expect([[...map.keys()], [...map.values()]]).toEqual([
    ['a', 'b'],
    [3, 2],
  ])
})

test('what is taken out while the values are read is left out', () => {
  const map = new PassingMap<number, string>()
  for (const [key, value] of ['a', 'b', 'c'].entries()) map.set(key, value)
  const seen: string[] = []
  for (const value of map.values()) {
    seen.push(value)
    map.delete(1)
  }
  map.delete(7)
  expect([seen, map.size]).toEqual([['a', 'c'], 2])
})
