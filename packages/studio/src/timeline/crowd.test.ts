import { expect, test } from 'vitest'
import { crowds } from './crowd.ts'
import { ticks } from './ticks.ts'

test('marks that are too close are one mark with a count, and none is lost', () => {
  const marks = [0, 4, 9, 10, 40, 41].map((left) => ({ left }))
  const made = crowds(marks, ({ left }) => left, 10)
  expect(made.map(({ first, count }) => [first.left, count])).toEqual([
    [0, 3],
    [10, 1],
    [40, 2],
  ])
  expect(made.map(({ last }) => last.left)).toEqual([9, 10, 41])
})

test('an axis with more breaks than labels still has labels, at even places and with the real time', () => {
  // 200 runs of one second, a day apart: no round day falls into a run.
  const parts = Array.from({ length: 200 }, (_, i) => ({ place: i * 1100, real: 5000 + i * 86_400_000, length: 1000 }))
  const made = ticks(parts, 220_000, 1100)
  expect(made.length).toBeGreaterThanOrEqual(8)
  const steps = made.slice(1).map(({ place }, i) => place - (made[i]?.place ?? 0))
  for (const step of steps) expect(step).toBeGreaterThan(10_000)
  for (const { place, real } of made) {
    const part = parts.find((each) => each.place <= place && place <= each.place + each.length)
    expect(real).toBe((part?.real ?? 0) + place - (part?.place ?? 0))
  }
})

test('a break that is wider than the distance of two ticks has one tick after it, not several at one place', () => {
  const parts = [
    { place: 0, real: 0, length: 7 },
    { place: 107, real: 60_000, length: 13 },
  ]
  const places = ticks(parts, 120, 1100).map(({ place }) => place)
  expect(places.length).toBeGreaterThan(0)
  expect(new Set(places).size).toBe(places.length)
})
