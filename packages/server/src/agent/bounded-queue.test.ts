import { describe, expect, test } from 'vitest'
import { BoundedQueue } from './bounded-queue.ts'

const all = async <T>(values: AsyncIterable<T>): Promise<T[]> => {
  const seen: T[] = []
  for await (const value of values) seen.push(value)
  return seen
}

describe('bounded queue', () => {
  test('gives what was pushed, in order, before and after the reader comes', async () => {
    const out = new BoundedQueue<number>(9, () => {})
    out.push(1)
    const reading = all(out)
    out.push(2)
    await Promise.resolve()
    out.push(3)
    out.end()
    out.push(4)
    expect(await reading).toEqual([1, 2, 3])
  })

  test('what need not be read at once wakes a reader once, and what must be read at once brings it along', async () => {
    const out = new BoundedQueue<number>(9, () => {})
    const got: number[] = []
    let wakes = 0
    const reading = (async () => {
      for (let next = await out.next(); next.done !== true; next = await out.next()) {
        wakes += 1
        got.push(next.value)
        for (let more = out.ready(); more !== undefined; more = out.ready()) got.push(more)
      }
    })()
    for (const value of [1, 2, 3]) {
      out.pushSoon(value)
      await Promise.resolve()
    }
    expect(got).toEqual([])
    await new Promise((resolve) => process.nextTick(resolve))
    await Promise.resolve()
    expect(got).toEqual([1, 2, 3])
    expect(wakes).toBe(1)
    out.pushSoon(4)
    out.push(5)
    await Promise.resolve()
    expect(got).toEqual([1, 2, 3, 4, 5])
    out.pushSoon(6)
    out.end()
    await reading
    expect(got).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('a writer that waits for room continues when the reader has read, or when the queue has ended', async () => {
    const out = new BoundedQueue<number>(2, () => {})
    out.push(1)
    out.push(2)
    let waited = false
    const writer = out.room().then(() => {
      waited = true
      out.end()
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(waited).toBe(false)
    expect(await all(out)).toEqual([1, 2])
    await writer
    const full = new BoundedQueue<number>(0, () => {})
    const stuck = full.room()
    full.end()
    await stuck
  })

  test('a reader that stops early is reported once; a reader that reads to the end is not', async () => {
    let left = 0
    const out = new BoundedQueue<number>(9, () => {
      left += 1
    })
    out.push(1)
    out.push(2)
    for await (const _ of out) break
    expect(left).toBe(1)
    expect(await all(out)).toEqual([])
    const read = new BoundedQueue<number>(9, () => {
      left += 1
    })
    read.end()
    expect(await all(read)).toEqual([])
    expect(left).toBe(1)
  })
})
