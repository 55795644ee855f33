import { describe, expect, test } from 'vitest'
import { type Allot, Allotments } from './allotments.ts'
import { MinuteCounts } from './share-counts.ts'

/** A log that several servers share, as far as counts go; each call is one round trip. */
function sharedCounts(clock: { now: number }) {
  const counts = new Map<string, number>()
  const calls: string[] = []
  const allot: Allot = async (key, amount, most, window) => {
    calls.push(key)
    const place = `${key} ${Math.floor(clock.now / window)}`
    const before = counts.get(place) ?? 0
    const granted = Math.max(0, Math.min(amount, most - before))
    counts.set(place, before + granted)
    return { granted, count: before + granted, left: window - (clock.now % window) }
  }
  return { allot, calls }
}

async function grantedOf(count: number, take: () => Promise<unknown>): Promise<number> {
  let granted = 0
  for (let i = 0; i < count; i += 1)
    granted += await take().then(
      () => 1,
      () => 0,
    )
  return granted
}

describe('limits over several servers', () => {
  test('hold for the sum of them, and begin again with the next minute', async () => {
    const clock = { now: 60_000 }
    const { allot } = sharedCounts(clock)
    const share = { user: 10, all: 15 }
    const servers = [1, 2].map(
      () =>
        new MinuteCounts(
          'writes',
          share,
          () => {},
          () => clock.now,
          new Allotments(allot, () => clock.now),
        ),
    )
    const each = async (user: string): Promise<number> => {
      const granted = await Promise.all(servers.map((server) => grantedOf(20, () => server.take(user))))
      return granted.reduce((sum, one) => sum + one, 0)
    }
    expect(await each('ada')).toBe(10)
    expect(await each('bob')).toBe(5)
    clock.now += 60_000
    expect(await each('bob')).toBe(10)
  })

  test('take one round trip for many requests, and none for one that is refused', async () => {
    const clock = { now: 60_000 }
    const { allot, calls } = sharedCounts(clock)
    const counts = new Allotments(allot, () => clock.now)
    expect(
      await grantedOf(1_000, async () => (await counts.take('k', 1_000))?.granted === true || Promise.reject()),
    ).toBe(1_000)
    expect(calls).toHaveLength(100)
    expect(await counts.take('k', 1_000)).toMatchObject({ granted: false, count: 1_000, left: 60_000 })
    expect(calls).toHaveLength(100)
  })

  test('what was counted and not used is used next', async () => {
    const clock = { now: 60_000 }
    const counts = new Allotments(sharedCounts(clock).allot, () => clock.now)
    await counts.take('k', 1)
    expect((await counts.take('k', 1))?.granted).toBe(false)
    counts.giveBack('k')
    expect((await counts.take('k', 1))?.granted).toBe(true)
  })

  test('are those of one server while the log does not answer', async () => {
    const counts = new Allotments(
      () => Promise.reject(new Error('gone')),
      () => 1,
    )
    const server = new MinuteCounts(
      'writes',
      { user: 3, all: 9 },
      () => {},
      () => 1,
      counts,
    )
    expect(await grantedOf(5, () => server.take('ada'))).toBe(3)
    expect(await grantedOf(5, () => server.take(undefined))).toBe(5)
  })
})
