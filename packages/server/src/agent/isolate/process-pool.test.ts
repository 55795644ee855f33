import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ProcessPool } from './process-pool.ts'

const never = new Promise<void>(() => undefined)

describe('turns to load', () => {
  const pool = () => new ProcessPool({ loadsAtOnce: 2, idle: 1, kept: 1 })
  /** Asks for a turn of each name; `begun` has the names whose turn has come, `end` ends one. */
  function turns(shared: ProcessPool, hurries: Readonly<Record<string, Promise<void>>> = {}) {
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    const ask = (name: string): void => {
      void shared.turn(hurries[name] ?? never).then((end) => {
        begun.push(name)
        ends.set(name, end)
      })
    }
    const end = async (name: string): Promise<void> => {
      ends.get(name)?.()
      await new Promise(setImmediate)
    }
    return { begun, ask, end }
  }

  test('only so many load at once, and the next in line begins when one ends', async () => {
    const { begun, ask, end } = turns(pool())
    for (const name of ['a', 'b', 'c', 'd']) ask(name)
    await new Promise(setImmediate)
    expect(begun).toEqual(['a', 'b'])
    await end('b')
    expect(begun).toEqual(['a', 'b', 'c'])
    await end('b')
    expect(begun).toEqual(['a', 'b', 'c'])
    await end('a')
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
  })

  test('an agent whose run waits does not wait for its turn', async () => {
    let hurry: () => void = () => undefined
    const hurried = new Promise<void>((resolve) => {
      hurry = resolve
    })
    const { begun, ask, end } = turns(pool(), { d: hurried })
    for (const name of ['a', 'b', 'c', 'd']) ask(name)
    hurry()
    await new Promise(setImmediate)
    expect(begun).toEqual(['a', 'b', 'd'])
    // Three load now, so the end of one of them leaves no room for another.
    await end('a')
    expect(begun).toEqual(['a', 'b', 'd'])
    await end('b')
    expect(begun).toEqual(['a', 'b', 'd', 'c'])
  })
})

describe('processes without runs', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const stopped: string[] = []
  const named = (name: string) => ({
    close: async (): Promise<void> => {
      stopped.push(name)
    },
  })
  beforeEach(() => {
    stopped.length = 0
  })

  test('one ends after its time, unless it has work before', () => {
    const pool = new ProcessPool({ loadsAtOnce: 1, idle: 1000, kept: 8 })
    const [a, b] = [named('a'), named('b')]
    pool.rest(a)
    pool.rest(b)
    vi.advanceTimersByTime(999)
    pool.work(b)
    vi.advanceTimersByTime(1)
    expect(stopped).toEqual(['a'])
    pool.rest(b)
    vi.advanceTimersByTime(1000)
    expect(stopped).toEqual(['a', 'b'])
  })

  test('of more than are kept, the one that has rested for longest ends', () => {
    const pool = new ProcessPool({ loadsAtOnce: 1, idle: Number.POSITIVE_INFINITY, kept: 2 })
    const [a, b, c] = [named('a'), named('b'), named('c')]
    for (const one of [a, b, a, c]) pool.rest(one)
    expect(stopped).toEqual(['b'])
    vi.advanceTimersByTime(24 * 60 * 60_000)
    expect(stopped).toEqual(['b'])
  })
})
