import { expect, test } from 'vitest'
import { settlesIn } from './patience.ts'

test('time in the queue of loads does not count', async () => {
  let loaded: () => void = () => undefined
  const loading = new Promise<void>((resolve) => {
    loaded = resolve
  })
  let looks = 0
  // Work that has begun is waited for 100 ms at most, and looked at every 25 ms.
  const settled = settlesIn(loading, 60_000, 100, () => {
    looks += 1
    if (looks === 20) loaded()
    return { queued: true, idle: 0 }
  })
  expect(await settled).toBe(true)
})

test('work that has begun and does not end is waited for as long as was said', async () => {
  expect(await settlesIn(new Promise(() => undefined), 60_000, 100, () => ({ queued: false, idle: 0 }))).toBe(false)
})
