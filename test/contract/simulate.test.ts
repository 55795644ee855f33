import { expect, test } from 'vitest'
import { histogram, simulate } from '../../bench/simulate.ts'
import { full } from '../kit/full.ts'

const seeds = full ? [1, 2, 3, 4, 5, 6, 7, 8] : [1, 2]

test.each(seeds)(
  '20 replicas that crash, sleep and are cut off end every run once and lose no event (seed %i)',
  (seed) => {
    const seen = simulate({ seed, replicas: 20, sessions: 2_000, duration: 180_000, crashes: 20, cuts: 10, sleeps: 10 })
    expect(seen).toMatchObject({ started: 2_000, ended: 2_000, twice: 0, endings: 0, gaps: 0, unheard: 0 })
    // The faults had an effect.
    expect(seen.takeovers.length).toBeGreaterThan(20)
    expect(seen.count.resume).toBeGreaterThan(0)
    expect(seen.count.end).toBeGreaterThan(0)
    expect(seen.count.refused).toBeGreaterThan(0)
    expect(seen.count.asked).toBeGreaterThan(0)
    // Twice the lease, and the slow disk.
    expect(seen.takeovers.at(-1)).toBeLessThan(30_000 + 5_000)
  },
)

test('the same seed has the same end, and times are drawn as text', () => {
  const small = { seed: 9, replicas: 5, sessions: 200, duration: 60_000 }
  expect(simulate(small)).toEqual(simulate(small))
  expect(histogram([0, 100, 2_600], 2_500, 4)).toBe('    0.0 #### 2\n    2.5 ## 1')
})
