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
