import { expect, test } from 'vitest'
import { countUpTo, typesUpTo, type WireFrame } from './frames.ts'

const frames: readonly WireFrame[] = [
  [1, 'RUN_STARTED'],
  [2, 'TEXT'],
  [2, 'TEXT'],
  [3, 'TOOL'],
  [5, 'TEXT'],
].map(([seq, name]) => ({ seq: Number(seq), name: String(name), at: 0, frame: { data: '' } }))

test('the types at a moment count the same frames as the list at that moment', () => {
  for (const seq of [0, 1, 2, 3, 4, 5, 9]) {
    const types = typesUpTo(frames, seq)
    expect([...types.values()].reduce((sum, count) => sum + count, 0)).toBe(countUpTo(frames, seq))
  }
  expect(Object.fromEntries(typesUpTo(frames, 2))).toEqual({ RUN_STARTED: 1, TEXT: 2 })
})
