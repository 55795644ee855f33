import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wordDifference } from './words.ts'

test('only the words that differ are marked', () => {
  const [left, right] = wordDifference('Close the north trail today', 'Close the south trail today')
  expect(left).toEqual([
    { text: 'Close the ', own: false },
    { text: 'north ', own: true },
    { text: 'trail today', own: false },
  ])
  expect(right[1]).toEqual({ text: 'south ', own: true })
})

test('equal texts have no marks, and nothing of a text is lost', () => {
  expect(wordDifference('a b', 'a b')).toEqual([[{ text: 'a b', own: false }], [{ text: 'a b', own: false }]])
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '\n', '  '), { maxLength: 30 }).map((words) => words.join(' '))
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [left, right] = wordDifference(a, b)
      expect([left, right].map((runs) => runs.map((run) => run.text).join(''))).toEqual([a, b])
    }),
  )
})
