import { expect, test } from 'vitest'
import type { Pairing } from './align.ts'
import { foldPairs } from './folding.ts'

const pairs = (kinds: string): readonly Pairing[] =>
  [...kinds].map((kind, i) => ({
    key: String(i),
    left: undefined,
    right: undefined,
    kind: kind === '.' ? 'same' : 'changed',
  }))
const shape = (kinds: string): readonly string[] =>
  foldPairs(pairs(kinds)).map(({ pairs: own, folded }) => `${folded ? 'folded' : 'shown'} ${own.length}`)

test.each([
  ['', []],
  ['....', ['shown 4']],
  ['..x..', ['shown 5']],
  [`${'.'.repeat(1000)}x`, ['folded 998', 'shown 3']],
  [`x${'.'.repeat(1000)}`, ['shown 3', 'folded 998']],
  [`x${'.'.repeat(30)}xx${'.'.repeat(5)}x`, ['shown 3', 'folded 26', 'shown 10']],
  ['.'.repeat(1000), ['shown 2', 'folded 998']],
])('%s', (kinds, wanted) => {
  expect(shape(kinds)).toEqual(wanted)
  expect(foldPairs(pairs(kinds)).flatMap((stretch) => stretch.pairs)).toEqual(pairs(kinds))
})
