import { expect, test } from 'vitest'
import { load } from '../kit/load.ts'

test('1,000 readers of 50 runs: each hears every token once, in order, and the server then holds no more than before', async () => {
  const perSecond = 10
  const seconds = 18
  const { frames, lost, doubled, cut, memory } = await load({ runs: 50, readers: 1000, seconds, perSecond })
  expect({ lost, doubled, cut }).toEqual({ lost: 0, doubled: 0, cut: 0 })
  expect(frames).toBe(1000 * seconds * perSecond)
  // What is kept for readers that come back goes with the last of them; anything else kept would be a leak.
  expect(memory.after / memory.before).toBeLessThan(1.2)
})
