import { expect, test } from 'vitest'
import { CursorFollower } from './cursor-follower.ts'

/** A page whose clock is set by the test; each moment takes `cost` milliseconds to draw. */
function pageOf(cost: number) {
  let now = 0
  let timers: { readonly at: number; readonly action: () => void }[] = []
  const drawn: { readonly at: number | undefined; readonly time: number }[] = []
  const later = (milliseconds: number, action: () => void): (() => void) => {
    const timer = { at: now + milliseconds, action }
    timers.push(timer)
    return () => {
      timers = timers.filter((each) => each !== timer)
    }
  }
  const follower = new CursorFollower(undefined, {
    draw: (at) => {
      drawn.push({ at, time: now })
      now += cost
    },
    now: () => now,
    soon: (action) => action(),
    later,
    afterPaint: (action) => void later(0, action),
  })
  const passUntil = (end: number): void => {
    for (;;) {
      const next = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      timers = timers.filter((each) => each !== next)
      now = Math.max(now, next.at)
      next.action()
    }
    now = Math.max(now, end)
  }
  return { follower, drawn, passUntil }
}

test('moments that are drawn within a frame are all drawn', () => {
  const { follower, drawn, passUntil } = pageOf(5)
  for (let i = 1; i <= 10; i++) {
    follower.want(i)
    passUntil(i * 16)
  }
  expect(drawn.map(({ at }) => at)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

test('while the cursor moves, a slow moment is followed by a pause in proportion to it', () => {
  const { follower, drawn, passUntil } = pageOf(117)
  for (let i = 1; i <= 100; i++) {
    follower.want(i)
    passUntil(i * 16)
  }
  expect(drawn.map(({ time }) => time)[0]).toBe(0)
  expect(drawn[1]?.time).toBeGreaterThan(1000)
})

test('once the cursor rests, its moment is drawn without the rest of the pause', () => {
  const { follower, drawn, passUntil } = pageOf(317)
  follower.want(90)
  follower.want(80)
  passUntil(10_000)
  expect(drawn.map(({ at }) => at)).toEqual([90, 80])
  expect(drawn[1]?.time).toBeLessThan(500)
})

test('a page that is left draws nothing more', () => {
  const { follower, drawn, passUntil } = pageOf(317)
  follower.want(90)
  passUntil(330)
  follower.want(80)
  follower.rest()
  passUntil(10_000)
  expect(drawn.map(({ at }) => at)).toEqual([90])
})
