import {
  callsView,
  fold,
  liveLog,
  type Recorded,
  type RunEvent,
  stateView,
  transcriptView,
  usageView,
} from '@millrace/core'
import { expect, test } from 'vitest'
import { cutEnds, runsView } from '../session/runs.ts'
import { figuresOf, sideFacts, toolFigures } from './side-facts.ts'

const started = (text: string): RunEvent => ({
  kind: 'run.started',
  agent: 'a',
  input: { messages: [{ id: text, role: 'user', content: { role: 'user', parts: [{ text }] } }] },
})
const call = (number: string, tokens: number): readonly RunEvent[] => [
  { kind: 'model.started', call: number, agent: 'a', model: 'm', tools: 0 },
  {
    kind: 'model.finished',
    call: number,
    status: 'ok',
    usage: { inputTokens: tokens, outputTokens: 1 },
    cost: { amount: tokens / 1000, currency: 'USD' },
  },
]
const events: readonly (readonly [string, RunEvent])[] = [
  ['r1', started('one')],
  ...call('c1', 10).map((event) => ['r1', event] as const),
  ['r1', { kind: 'state', patch: [{ op: 'add', path: '/n', value: 1 }] }],
  ['r1', { kind: 'run.finished', outcome: 'done' }],
  ['r2', started('two')],
  ...[...call('c1', 30), ...call('c2', 5)].map((event) => ['r2', event] as const),
  ['r2', { kind: 'state', patch: [{ op: 'replace', path: '/n', value: 2 }] }],
  ['r2', { kind: 'run.finished', outcome: 'failed', error: { code: 'agent-error', message: 'no' } }],
]
const rows = events.map(([run, event], i): Recorded => ({ seq: i + 1, at: 1000 * i, run, event }))
const views = {
  transcript: fold(transcriptView, rows),
  usage: fold(usageView, rows),
  calls: fold(callsView, rows),
  state: fold(stateView, rows),
  cuts: new Map(),
}

test('two runs of one session have figures of their own, with deltas', () => {
  const [first, second] = [sideFacts(views, 'r1'), sideFacts(views, 'r2')]
  expect([first.state, second.state]).toEqual([{ n: 1 }, { n: 2 }])
  const figures = new Map(figuresOf([first, second]).map(({ name, values }) => [name, values]))
  expect(figures.get('Outcome')).toEqual([{ text: 'done' }, { text: 'failed' }])
  expect(figures.get('Input tokens')).toEqual([{ text: '10' }, { text: '35', delta: '+25' }])
  expect(figures.get('Cost (USD)')).toEqual([{ text: '0.01' }, { text: '0.035', delta: '+0.025' }])
  expect(figures.get('Model calls')).toEqual([{ text: '1' }, { text: '2', delta: '+1' }])
  expect(figures.get('Run time')?.[1]?.delta).toBe('+2.0 s')
  expect(toolFigures([first, second])).toEqual([])
})

test('a whole session has the figures of all its runs; what is not reported says so', () => {
  const whole = sideFacts(views, undefined)
  expect(whole).toMatchObject({ outcome: 'failed', modelCalls: 3, state: { n: 2 } })
  const unknown = sideFacts(views, 'r9')
  expect(figuresOf([unknown, whole]).find(({ name }) => name === 'Input tokens')?.values).toEqual([
    { text: 'not reported' },
    { text: '45' },
  ])
})

test('the run time of a run that a crash cut off ends at its last event', () => {
  const error = { code: 'crashed', message: 'the server stopped while this run was active' } as const
  const log = liveLog((flush) => flush())
  const cut = [started('one'), ...call('c1', 10), { kind: 'run.finished', outcome: 'failed', error } as const]
  log.append(cut.map((event, i): Recorded => ({ seq: i + 1, at: i === 3 ? 600_000 : 1000 * i, run: 'r', event })))
  const side = sideFacts(
    {
      transcript: log.read(transcriptView),
      usage: log.read(usageView),
      calls: log.read(callsView),
      state: log.read(stateView),
      cuts: cutEnds(log, log.read(runsView)),
    },
    undefined,
  )
  expect(side).toMatchObject({ outcome: 'cut off', time: 2000 })
})
