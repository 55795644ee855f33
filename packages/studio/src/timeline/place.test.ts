import { liveLog, type Recorded } from '@millrace/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { layOut } from './lanes.ts'
import { type PlacedBar, place } from './place.ts'
import { type Scale, scaleOf } from './scale.ts'
import type { Span } from './spans.ts'

/** A run of 1000 ms whose events are 100 ms apart, drawn at one pixel for each millisecond. */
function scaleOfRun(): Scale {
  const log = liveLog((flush) => flush())
  const rows = Array.from({ length: 11 }, (_, i): Recorded => {
    const kind = i === 0 ? ('run.started' as const) : ('node.started' as const)
    const event =
      kind === 'run.started' ? { kind, agent: 'a', input: { messages: [] } } : { kind, node: 'a@1', agent: 'a' }
    return { seq: i + 1, at: i * 100, run: 'r', event }
  })
  log.append(rows)
  return scaleOf(log)
}
const canvas = 1008

const whole: Span = {
  key: 'k',
  kind: 'model',
  path: 'p',
  agent: 'a',
  name: 'm',
  run: 'r',
  startSeq: 2,
  startedAt: 100,
  endSeq: 6,
  word: 'done',
}

/** The first of these spans, each in a row of its own. */
function placedOf(span: Partial<Span>, ...inside: readonly Partial<Span>[]) {
  const first = { ...whole, ...span }
  const spans = [first, ...inside.map((each, i): Span => ({ ...first, key: `inside ${i}`, within: 'k', ...each }))]
  const bars = spans.map((each, row) => ({ span: each, row }))
  const [bar] = place({ bars, lanes: [], rows: bars.length }, scaleOfRun(), canvas)
  return { from: (bar?.left ?? 0) - 4, to: (bar?.right ?? 0) - 4, first: bar?.first }
}

/** Spans of one lane. */
function placedInLane(spans: readonly Partial<Span>[]): readonly PlacedBar[] {
  const own = spans.map((each, i): Span => ({ ...whole, key: `k${i}`, ...each }))
  return place(layOut(own.toSorted((a, b) => a.startSeq - b.startSeq)), scaleOfRun(), canvas)
}

test('a model call is as long as its record says, from its start on, also when its events were written later', () => {
  expect(placedOf({ duration: 250, firstSeq: 4, firstAfter: 40 })).toEqual({ from: 100, to: 350, first: 40 })
})

test('a tool ends with its result', () => {
  expect(placedOf({ kind: 'tool', duration: 50 })).toEqual({ from: 450, to: 500, first: undefined })
})

test('a call never reaches beyond its events, and one of another server is as long as they are', () => {
  expect(placedOf({ duration: 9000 })).toEqual({ from: 100, to: 500, first: undefined })
  expect(placedOf({ duration: 50, remote: true, firstSeq: 3 })).toEqual({ from: 100, to: 500, first: 100 })
})

test('a call without an end reaches to the end of the log', () => {
  expect(placedOf({ duration: 50, endSeq: undefined as never })).toEqual({ from: 100, to: 1000, first: undefined })
})

test('a call without a duration at the very end can be hit: all of its bar is on the canvas', () => {
  for (const kind of ['model', 'tool', 'agent'] as const)
    expect(placedOf({ kind, duration: 0, startSeq: 11, endSeq: 11 })).toMatchObject({ from: 998, to: 1004 })
})

test('a step is as long as it took, also when its end was written later, but not shorter than what is inside it', () => {
  expect(placedOf({ kind: 'agent', duration: 250 })).toEqual({ from: 100, to: 350, first: undefined })
  const late: Partial<Span> = { startSeq: 5, endSeq: 6, duration: 60 }
  expect(placedOf({ kind: 'agent', duration: 250 }, late)).toMatchObject({ from: 100, to: 460 })
  const inner: Partial<Span> = { key: 'inner', kind: 'agent', duration: 20 }
  expect(placedOf({ kind: 'agent', duration: 250 }, inner, { ...late, within: 'inner' })).toMatchObject({ to: 460 })
  expect(placedOf({ kind: 'agent', duration: 250 }, { startSeq: 5, endSeq: 9, duration: 900 })).toMatchObject({
    to: 500,
  })
  expect(placedOf({ kind: 'agent', duration: 250, within: 'k' })).toMatchObject({ to: 350 })
})

test('a call whose start and end came in one commit is beside the call after it, not below it', () => {
  const [short, long] = placedInLane([
    { startSeq: 2, endSeq: 2, duration: 0 },
    { startSeq: 2, endSeq: 6, duration: 300, firstSeq: 3, firstAfter: 100 },
  ])
  expect(short).toMatchObject({ left: 104, right: 110 })
  // It still ends, and has its first token, where the log says.
  expect(long).toMatchObject({ left: 110, right: 404, first: 94 })
})

test('many calls of no length do not drive what follows away from its time', () => {
  const short = Array.from(
    { length: 30 },
    (_, i): Partial<Span> => ({
      startSeq: 2,
      endSeq: 2,
      duration: 0,
      word: i % 2 === 0 ? 'done' : 'failed',
    }),
  )
  const [done, failed, long] = placedInLane([...short, { startSeq: 3, endSeq: 6, duration: 100 }])
  expect(done).toMatchObject({ left: 104, right: 110, word: 'done', count: 1 })
  expect(failed).toMatchObject({ left: 110, word: 'failed', count: 29 })
  expect(long).toMatchObject({ left: 204, right: 304 })
})

test('the middle of each bar can be pressed, whatever times the log has', () => {
  const spans = fc.array(
    fc.record({
      startSeq: fc.integer({ min: 1, max: 11 }),
      length: fc.integer({ min: 0, max: 3 }),
      duration: fc.integer({ min: 0, max: 300 }),
      kind: fc.constantFrom('model' as const, 'tool' as const, 'agent' as const),
      word: fc.constantFrom('done' as const, 'failed' as const),
    }),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(spans, (all) => {
      const bars = placedInLane(
        all.map(({ length, ...span }) => ({ ...span, endSeq: Math.min(11, span.startSeq + length) })),
      )
      for (const [i, { left, right, row }] of bars.entries()) {
        const middle = (left + right) / 2
        const covering = bars
          .slice(i + 1)
          .filter((over) => over.row === row && over.left <= middle && middle < over.right)
        expect(covering).toEqual([])
      }
    }),
  )
})
