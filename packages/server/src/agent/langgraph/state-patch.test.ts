import { type Json, type JsonObject, patchState } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { valuePatch } from './state-patch.ts'

const few = fc.constantFrom<Json>('a', 'b', 1, null, { id: 1 }, { id: 2, text: ['x'] })
const value: fc.Arbitrary<Json> = fc.oneof(
  fc.array(few, { maxLength: 8 }),
  fc.dictionary(fc.constantFrom('a', 'b/c', '~d', '__proto__'), fc.oneof(few, fc.array(few, { maxLength: 4 }))),
  fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>,
)

test('a patch leads from the one value to the other, whatever they are', () => {
  fc.assert(
    fc.property(value, value, (before, after) => {
      const problems: unknown[] = []
      const state: JsonObject = { key: before }
      const made = patchState(state, valuePatch('/key', before, after), (problem) => problems.push(problem))
      expect(problems).toEqual([])
      expect(made.key).toEqual(after)
    }),
    { numRuns: 1000 },
  )
})

const letters = (text: string): Json => [...text]

test.each([
  ['abcd', 'abcd', []],
  ['ab', 'abcd', ['add /2', 'add /3']],
  ['abcd', 'cd', ['remove /0', 'remove /0']],
  ['abcd', 'acd', ['remove /1']],
  ['abcd', 'abxd', ['replace /2']],
  ['abcd', 'abxcd', ['add /2']],
  ['abcd', 'bcde', ['remove /0', 'add /3']],
  ['abcd', 'wxyz', ['replace /0', 'replace /1', 'replace /2', 'replace /3']],
  ['abcd', '', ['replace ']],
])('from %s to %s in as few operations as that takes', (before, after, ops) => {
  expect(valuePatch('', letters(before), letters(after)).map(({ op, path }) => `${op} ${path}`)).toEqual(ops)
})
