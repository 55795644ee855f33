import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sessions } from '../../../../../test/kit/arbitrary-events.ts'
import { loadViewVectors } from '../../../../../test/kit/vectors.ts'
import type { AdkEvent, AdkPart } from '../../event/adk-event.ts'
import type { Recorded, RunEvent, Usage } from '../../event/run-event.ts'
import { usageOf } from '../../event/usage.ts'
import { describeView, printed, withoutPartials } from '../../testing/index.ts'
import { callsView } from '../calls/index.ts'
import { fold } from '../view.ts'
import { usageView } from './index.ts'
import type { UsageReport } from './state.ts'

const rowsOf = (events: readonly RunEvent[]): readonly Recorded[] =>
  events.map((event, i) => ({ seq: i + 1, at: 100 * i, run: 'r', event }))
const said = (message: string, parts: readonly AdkPart[], more: Partial<AdkEvent> = {}, node?: string): RunEvent => ({
  kind: 'agent',
  message,
  event: { id: message, author: 'a', invocationId: 'i', timestamp: 0, content: { parts }, ...more },
  ...(node === undefined ? {} : { node }),
})
const started: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [] } }
const token = (message: string, text = 'x', node?: string): RunEvent =>
  said(message, [{ text }], { partial: true }, node)
/** Without the waits, which only partials show. */
const counts = ({ total, agents, runs }: UsageReport): unknown => ({
  total,
  agents: agents
    .toArray()
    .map(({ firstToken: _wait, ...rest }) => rest)
    .toSorted((a, b) => (a.agent < b.agent ? -1 : 1)),
  runs: runs.toArray().map(({ firstToken: _wait, ...rest }) => rest),
})
const sum = (usages: readonly Usage[], field: keyof Usage): number =>
  usages.reduce((total, each) => total + (each[field] ?? 0), 0)

describeView({ describe, expect, test }, usageView, loadViewVectors('usage'), {
  matches(report, expected) {
    expect(printed(report)).toMatchObject(expected)
  },
})

describe('properties', () => {
  test('SPEC 5.3: what is counted does not depend on whether partials were kept', () => {
    fc.assert(
      fc.property(sessions(), (rows) => {
        expect(counts(fold(usageView, withoutPartials(rows)))).toEqual(counts(fold(usageView, rows)))
      }),
      { numRuns: 300 },
    )
  })

  test('agents and runs each add up to the total', () => {
    fc.assert(
      fc.property(sessions(), (rows) => {
        const { total, agents, runs } = fold(usageView, rows)
        for (const field of ['modelCalls', 'inputTokens', 'outputTokens', 'totalTokens'] as const) {
          expect(
            sum(
              agents.toArray().map((each) => each.usage),
              field,
            ),
          ).toBe(total[field] ?? 0)
          expect(
            sum(
              runs.toArray().map((each) => each.usage),
              field,
            ),
          ).toBe(total[field] ?? 0)
        }
      }),
      { numRuns: 100 },
    )
  })

  test('SPEC 5.2: a token after the first leaves the same reference', () => {
    const state = fold(usageView, rowsOf([started, token('m')]))
    expect(usageView.apply(state, { seq: 9, at: 9, run: 'r', event: token('m', 'y') })).toBe(state)
    expect(
      usageView.apply(state, { seq: 9, at: 9, run: 'r', event: { kind: 'log', level: 'info', message: '' } }),
    ).toBe(state)
    expect(
      usageView.apply(state, { seq: 9, at: 9, run: 'r', event: said('u', [{ text: 'hi' }], { author: 'user' }) }),
    ).toBe(state)
    expect(usageView.apply(state, { seq: 9, at: 9, run: 'r', event: token('n', '') })).toBe(state)
  })
})

describe('the wait for the first token', () => {
  test("runs from the start of the node, then from the tool's answer", () => {
    const rows = rowsOf([
      started,
      { kind: 'node.started', node: 'a@1', agent: 'a' },
      { kind: 'node.started', node: 'a@2', agent: 'a' },
      token('m1', 'x', 'a@1'), // 200 ms after a@1
      token('m1', 'y', 'a@1'),
      token('m2', 'x', 'a@2'), // 300 ms after a@2
      said('m1', [{ text: 'xy' }, { functionCall: { name: 't', id: 'c' } }], {}, 'a@1'),
      said('m3', [{ functionResponse: { name: 't', id: 'c' } }], {}, 'a@1'),
      token('m4', 'x', 'a@1'), // 100 ms after the answer
    ])
    const { agents, runs, firstToken } = fold(usageView, rows)
    expect(agents.toArray()).toMatchObject([
      { agent: 'a', firstToken: { calls: 3, total: 600, longest: 300, last: 100 } },
    ])
    expect(runs.toArray()).toMatchObject([{ firstToken: 200 }])
    expect(firstToken).toEqual(agents.at(0)?.firstToken)
  })
})

describe('calls', () => {
  test('a loop whose agent sees nothing of its last round calls again, though the prompt is the same', () => {
    const round = (message: string): RunEvent =>
      said(message, [{ text: 'x' }], { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 1 } })
    expect(fold(usageView, rowsOf([started, round('m1'), round('m2')])).total).toEqual({
      inputTokens: 10,
      outputTokens: 2,
      totalTokens: 12,
      modelCalls: 2,
    })
  })

  test('a model that failed was called; a state change alone is no call', () => {
    expect(fold(usageView, rowsOf([started, said('m', [], { errorCode: '429' })])).total).toEqual({ modelCalls: 1 })
    expect(fold(usageView, rowsOf([started, said('m', [], { actions: { stateDelta: { a: 1 } } })])).total).toEqual({})
  })

  test('a run that ends twice, or ends without a start, counts once and does not throw', () => {
    const end: RunEvent = { kind: 'run.finished', outcome: 'done', usage: { totalTokens: 5 } }
    expect(fold(usageView, rowsOf([started, end, end])).total).toEqual({ totalTokens: 5 })
    expect(fold(usageView, rowsOf([end])).total).toEqual({})
    expect(fold(usageView, rowsOf([started, started, end])).runs.length).toBe(1)
  })

  test('values that are no counts are ignored', () => {
    expect(usageOf({ promptTokenCount: -1, candidatesTokenCount: Number.NaN })).toBeUndefined()
    expect(usageOf({ thoughtsTokenCount: 4 })).toEqual({ reasoningTokens: 4 })
    expect(usageOf({ promptTokenCount: 3 })).toEqual({ inputTokens: 3, totalTokens: 3 })
    expect(usageOf(undefined)).toBeUndefined()
  })
})

test('SPEC 5.7: of calls at the same time, the first token of the run is the one that came first', () => {
  const begins = (call: string, waited?: number): RunEvent => ({
    kind: 'model.started',
    call,
    agent: 'a',
    ...(waited === undefined ? {} : { waited }),
  })
  const ends = (call: string, first?: number): RunEvent => ({
    kind: 'model.finished',
    call,
    status: 'ok',
    duration: 0,
    ...(first === undefined ? {} : { firstToken: first }),
  })
  const waitOf = (...events: RunEvent[]) => fold(usageView, rowsOf([started, ...events])).runs.at(0)?.firstToken
  // Rows are 100 ms apart: c1 begins at 100 and c2 at 200, which ends first.
  expect(waitOf(begins('c1'), begins('c2'), ends('c2', 90), ends('c1', 150))).toBe(150)
  expect(waitOf(begins('c1'), begins('c2'), ends('x'), ends('x'), ends('c1', 250), ends('c2', 140))).toBe(140)
  expect(waitOf(begins('c1'), begins('c2'), ends('c2'), ends('c1', 150))).toBe(150)
  // A row that came during a commit has its time: c1 began before 100, and had ended at 200, when c2 began.
  expect(waitOf(begins('c1'), ends('c1', 250), begins('c2'), ends('c2', 40))).toBe(250)
  // The call of another server began before its row.
  expect(waitOf(begins('c1', 80), begins('c2', 190), ends('c1', 90), ends('c2', 95))).toBe(95)
})

test('SPEC 5.7: calls and waits are those of the records, in the sum, by agent and by run', () => {
  for (const { name, rows } of loadViewVectors('usage')) {
    if (name !== 'recorded-calls') continue
    const { total, agents, runs, firstToken } = fold(usageView, rows)
    const calls = fold(callsView, rows)
      .calls.toArray()
      .filter(({ kind }) => kind === 'model')
    expect(calls).toHaveLength(2)
    expect([total.modelCalls, agents.at(0)?.usage.modelCalls, runs.at(0)?.usage.modelCalls]).toEqual([2, 2, 2])
    expect(runs.at(0)?.firstToken).toBe(calls[0]?.firstToken)
    expect(firstToken?.total).toBe(calls.reduce((sum, call) => sum + (call.firstToken ?? 0), 0))
    expect(agents.at(0)?.firstToken).toEqual(firstToken)
  }
  expect.hasAssertions()
})
