import { liveLog, type Recorded, type RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { scaleOf } from './scale.ts'

test('feedback takes no time on the axis and makes no break, also while a run works', () => {
  const row = (seq: number, at: number, event: RunEvent): Recorded => ({
    seq,
    at,
    run: event.kind === 'feedback' ? '' : 'r',
    event,
  })
  const feedback: RunEvent = { kind: 'feedback', about: { run: 'r' }, rating: 'up' }
  const log = liveLog((flush) => flush())
  log.append([
    row(1, 0, { kind: 'run.started', agent: 'a', input: { messages: [] } }),
    row(2, 50, { kind: 'node.started', node: 'a@1', agent: 'a' }),
    row(3, 60, feedback),
    row(4, 5050, { kind: 'node.finished', node: 'a@1', status: 'ok' }),
    row(5, 5060, { kind: 'run.finished', outcome: 'done' }),
    row(6, 900_000, feedback),
  ])
  const scale = scaleOf(log)
  expect(scale.total).toBe(5060)
  expect(scale.breaks).toEqual([])
  expect([scale.of(3), scale.of(4), scale.of(6)]).toEqual([50, 5050, 5060])
})

test('the times of the axis are those of the events, also after pauses that are too short for a break', () => {
  const pauses = [0, 40, 400, 999, 1000, 1050, 60_000]
  let now = 0
  const rows = pauses.flatMap((pause, i): Recorded[] => {
    const start = now + pause
    now = start + 170
    return [
      { seq: i * 2 + 1, at: start, run: `r${i}`, event: { kind: 'run.started', agent: 'a', input: { messages: [] } } },
      { seq: i * 2 + 2, at: now, run: `r${i}`, event: { kind: 'run.finished', outcome: 'done' } },
    ]
  })
  const log = liveLog((flush) => flush())
  log.append(rows)
  const scale = scaleOf(log)
  const timeAt = (place: number): number => {
    const stretch = scale.stretches.findLast((each) => each.place <= place)
    return stretch === undefined ? 0 : stretch.real + place - stretch.place
  }
  expect(rows.map(({ seq }) => timeAt(scale.of(seq)))).toEqual(rows.map(({ at }) => at))
  expect(scale.breaks.map(({ gap }) => gap)).toEqual([1000, 1050, 60_000])
})
