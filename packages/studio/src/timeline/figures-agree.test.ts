import {
  callsView,
  fold,
  liveLog,
  type Recorded,
  type RunEvent,
  spentOn,
  timelineView,
  usageView,
} from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { loadViewVectors } from '../../../../test/kit/vectors.ts'
import { runsView } from '../session/runs.ts'
import { callsIn, stepsOf } from '../step/steps.ts'
import { callSpansView } from './calls.ts'
import { scaleOf } from './scale.ts'
import { barsOfLog, type Span } from './spans.ts'

function barsOf(rows: readonly Recorded[]): readonly Span[] {
  const log = liveLog((flush) => flush())
  log.append(rows)
  const [runs, executions, calls] = [
    fold(runsView, rows),
    fold(timelineView, rows).executions,
    fold(callSpansView, rows).list,
  ]
  return barsOfLog(log, runs.toArray(), executions.toArray(), calls.toArray())
}

const said = (id: string, seq: object): RunEvent => ({
  kind: 'agent',
  message: id,
  event: {
    id,
    author: 'far',
    invocationId: 'r',
    timestamp: 1,
    content: { role: 'model', parts: [{ text: id }] },
    ...seq,
  },
})
/** A call whose engine measured other times than the log has, and one that never ended. */
const uneven: readonly Recorded[] = (
  [
    [0, { kind: 'run.started', agent: 'far', input: { messages: [] } }],
    [3000, { kind: 'model.started', call: 'c1', agent: 'far', waited: 2990 }],
    [3000, said('m1', { partial: true })],
    [3500, said('m1', {})],
    [
      3510,
      {
        kind: 'model.finished',
        call: 'c1',
        status: 'ok',
        firstToken: 2990,
        duration: 3490,
        model: 'gpt-4o',
        usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 },
        cost: { amount: 0.25, currency: 'USD' },
        messages: ['m1'],
      },
    ],
    [
      3600,
      {
        kind: 'agent',
        message: 't',
        event: {
          id: 't',
          author: 'far',
          invocationId: 'r',
          timestamp: 1,
          content: { role: 'model', parts: [{ functionCall: { id: 'f1', name: 'look', args: {} } }] },
        },
      },
    ],
    [
      3700,
      {
        kind: 'agent',
        message: 'u',
        event: {
          id: 'u',
          author: 'far',
          invocationId: 'r',
          timestamp: 1,
          content: { role: 'user', parts: [{ functionResponse: { id: 'f1', name: 'look', response: { error: '' } } }] },
        },
      },
    ],
    [4000, { kind: 'model.started', call: 'c2', agent: 'far', waited: 300 }],
    [4100, { kind: 'run.finished', outcome: 'cancelled' }],
  ] as const
).map(([at, event], i) => ({ seq: i + 1, at, run: 'r', event: event as RunEvent }))

const logs = [
  ['uneven times', uneven],
  ...['calls', 'usage', 'timeline', 'transcript'].flatMap((view) =>
    loadViewVectors(view).map(({ name, rows }) => [`${view}/${name}`, rows] as const),
  ),
] as const

describe.each(logs)('SPEC 5.7: the figures of %s', (_name, rows) => {
  const calls = fold(callsView, rows)
  const models = calls.calls.toArray().filter(({ kind }) => kind === 'model')
  const usage = fold(usageView, rows)
  const bars = barsOf(rows)

  test('are the same in the timeline as in the steps', () => {
    for (const call of calls.calls) {
      const { kind, call: id, startSeq } = call
      const bar = bars.find(({ key }) => key === (kind === 'model' ? `model ${startSeq}` : `tool ${id} ${startSeq}`))
      if (bar === undefined) continue
      const { duration, name, firstToken, usage: used, cost, status } = call
      expect(bar).toMatchObject({ name, word: words[status] })
      expect([bar.duration, bar.firstAfter ?? firstToken, bar.usage, bar.cost]).toEqual([
        duration,
        firstToken,
        used,
        cost,
      ])
    }
    const recorded = new Set(models.map(({ run }) => run))
    expect(bars.filter(({ kind, run }) => kind === 'model' && recorded.has(run)).length).toBeLessThanOrEqual(
      models.length,
    )
  })

  test('are the same in the usage as in the calls', () => {
    const recorded = new Set(models.map(({ run }) => run))
    for (const { run, usage: used, firstToken } of usage.runs) {
      if (!recorded.has(run)) continue
      const own = models.filter((call) => call.run === run)
      expect(used.modelCalls).toBe(own.length)
      expect(used.totalTokens ?? 0).toBe(own.reduce((sum, call) => sum + (call.usage?.totalTokens ?? 0), 0))
      expect(firstToken).toBe(own.find((call) => call.firstToken !== undefined)?.firstToken)
    }
    const sum = spentOn(models).models.reduce((all, { usage: { modelCalls = 0 } }) => all + modelCalls, 0)
    const made = usage.runs
      .toArray()
      .flatMap(({ run, usage: used }) => (recorded.has(run) ? [used.modelCalls ?? 0] : []))
    expect(sum).toBe(made.reduce((all, each) => all + each, 0))
  })
})

const words = { ok: 'done', error: 'failed', cut: 'cut off', running: 'running', waiting: 'waiting' } as const
test('the bar of a call that another server made begins where the wait began, and that wait is no idle gap', () => {
  const log = liveLog((flush) => flush())
  log.append(uneven)
  const [first] = barsOf(uneven).filter(({ kind }) => kind === 'model')
  expect(first).toMatchObject({ startSeq: 1, startedAt: 10, firstAfter: 2990, name: 'gpt-4o', remote: true })
  expect(scaleOf(log).breaks).toEqual([])
  expect(scaleOf(log).of(2)).toBe(3000)
})

test('a step of a log without nodes has the calls that its agent made', () => {
  const calls = fold(callsView, uneven)
  const steps = stepsOf(calls, fold(timelineView, uneven))
  const execution = steps.find((step) => step.execution !== undefined)?.execution
  if (execution === undefined) throw new Error('the log has no execution')
  expect(callsIn(steps, execution).map(({ call }) => call?.call)).toEqual(['c1', 'f1', 'c2'])
})
