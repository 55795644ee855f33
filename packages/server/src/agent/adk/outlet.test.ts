import { describe, expect, test } from 'vitest'
import { outlet } from './outlet.ts'

const all = async <T>(values: AsyncIterable<T>): Promise<T[]> => {
  const seen: T[] = []
  for await (const value of values) seen.push(value)
  return seen
}

describe('outlet', () => {
  test('gives what was pushed, in order, before and after the reader comes', async () => {
    const out = outlet<number>()
    out.push(1)
    const reading = all(out)
    out.push(2)
    await Promise.resolve()
    out.push(3)
    out.end()
    out.push(4)
    expect(await reading).toEqual([1, 2, 3])
  })

  test('an error comes after what was pushed before it', async () => {
    const out = outlet<number>()
    out.push(1)
    out.end(new Error('over'))
    const seen: number[] = []
    await expect(
      (async () => {
        for await (const value of out) seen.push(value)
      })(),
    ).rejects.toThrow('over')
    expect(seen).toEqual([1])
  })

  test('a writer that waits for room goes on when the reader has read, or when it is over', async () => {
    const out = outlet<number>(2)
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
    const full = outlet<number>(0)
    const stuck = full.room()
    full.end()
    await stuck
  })
})
