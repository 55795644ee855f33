import { expect, test } from 'vitest'
import { full } from '../kit/full.ts'
import { load } from '../kit/load.ts'

const [readers, runs, seconds] = full ? [1000, 50, 18] : [300, 15, 6]

test(`${readers} readers of ${runs} runs: each hears every token once, in order, and the server then holds no more than before`, async () => {
  const perSecond = 10
  const { frames, lost, doubled, cut, memory } = await load({ runs, readers, seconds, perSecond })
  expect({ lost, doubled, cut }).toEqual({ lost: 0, doubled: 0, cut: 0 })
  expect(frames).toBe(readers * seconds * perSecond)
  // What is kept for readers that come back goes with the last of them; anything else kept would be a leak.
  expect(memory.after / memory.before).toBeLessThan(1.2)
})
