import { fold, liveLog, type Recorded, type RunEvent, timelineView } from '@millrace/core'
import { expect, test } from 'vitest'
import { runsView, workedFor } from '../session/runs.ts'
import { callSpansView } from './calls.ts'
import { scaleOf } from './scale.ts'
import { barsOfLog } from './spans.ts'

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

test('a run that a crash cut off ends at its last event, with its open step and call, and a break follows', () => {
  const crash = { code: 'crashed', message: 'the server stopped while this run was active' } as const
  const row = (seq: number, at: number, event: RunEvent): Recorded => ({ seq, at, run: 'r', event })
  const log = liveLog((flush) => flush())
  const rows = [
    row(1, 0, { kind: 'run.started', agent: 'a', input: { messages: [] } }),
    row(2, 10, { kind: 'node.started', node: 'a@1', agent: 'a' }),
    row(3, 20, { kind: 'model.started', call: 'c', agent: 'a', model: 'm', tools: 0, node: 'a@1' }),
    row(4, 2000, { kind: 'log', level: 'info', message: 'still here' }),
    row(5, 600_000, { kind: 'node.finished', node: 'a@1', status: 'error', error: crash }),
    row(6, 600_000, { kind: 'run.finished', outcome: 'failed', error: crash }),
  ]
  log.append(rows)
  const runs = fold(runsView, rows).toArray()
  const steps = fold(timelineView, rows).executions.toArray()
  const bars = barsOfLog(log, runs, steps, fold(callSpansView, rows).list.toArray())
  expect(bars.map(({ kind, endSeq, word }) => [kind, endSeq, word])).toEqual([
    ['run', 4, 'cut off'],
    ['agent', 4, 'cut off'],
    ['model', 4, 'cut off'],
  ])
  expect(bars.slice(0, 2).map(({ duration }) => duration)).toEqual([2000, 1990])
  expect(scaleOf(log).breaks.map(({ gap }) => gap)).toEqual([598_000])
  expect(runs.map((run) => workedFor(log, run))).toEqual([2000])
})
