import type { AdkEvent, AdkPart, ModelFinished, ModelStarted, Problem, RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { runContext } from '../../../../../test/kit/run-context.ts'
import { adkCalls } from './adk-calls.ts'

type Record = ModelStarted | ModelFinished

/** Takes the events at their times, and gives the records with the number of the event that each one comes before. */
function recordsOf(events: readonly (readonly [at: number, event: Partial<AdkEvent>])[], error?: Problem): Taken {
  let now = 0
  const calls = adkCalls({ messages: [] }, runContext({ now: () => now }))
  const records: Record[] = []
  const places: string[] = []
  const note = (event: RunEvent, before: number): void => {
    if (event.kind !== 'model.started' && event.kind !== 'model.finished') return
    records.push(event)
    places.push(`${event.call} ${event.kind === 'model.started' ? 'begins' : 'ends'} before ${before}`)
  }
  let passed = 0
  for (const [at, more] of events) {
    now = at
    const id = more.id ?? `m${passed}`
    const event: AdkEvent = { author: 'far', invocationId: 'r', timestamp: 1, ...more, id }
    for (const each of calls.take({ kind: 'agent', message: id, event })) {
      note(each, passed)
      if (each.kind === 'agent') passed += 1
    }
  }
  for (const each of calls.end(error)) note(each, passed)
  expect(passed).toBe(events.length)
  return { records, places }
}
interface Taken {
  readonly records: readonly Record[]
  readonly places: readonly string[]
}

const content = (...parts: readonly AdkPart[]) => ({ content: { role: 'model', parts } })
const text = (words: string) => content({ text: words })
const call = (id: string, name = 'look') => content({ functionCall: { id, name, args: {} } })
const answer = (id: string) => content({ functionResponse: { id, name: 'look', response: {} } })
const usage = (input: number, output: number) => ({
  usageMetadata: { promptTokenCount: input, candidatesTokenCount: output },
})

test('SPEC 1.9: a call has what the events tell, and its times count from the sign before it', () => {
  const { records, places } = recordsOf([
    [100, { id: 'm', partial: true, ...text('It ') }],
    [130, { id: 'm', partial: true, ...text('is') }],
    [140, { id: 'm', ...text('It is'), ...usage(5, 2), modelVersion: 'gemini-2.5-flash', finishReason: 'STOP' }],
  ])
  expect(places).toEqual(['c1 begins before 0', 'c1 ends before 3'])
  expect(records).toEqual([
    { kind: 'model.started', call: 'c1', agent: 'far', waited: 100 },
    {
      kind: 'model.finished',
      call: 'c1',
      status: 'ok',
      firstToken: 100,
      duration: 140,
      model: 'gemini-2.5-flash',
      finishReason: 'STOP',
      usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 },
      cost: { amount: expect.any(Number), currency: 'USD' },
      messages: ['m'],
    },
  ])
})

test('the text, the function calls and the empty end of one turn are one call, also with a tool in between', () => {
  const { records, places } = recordsOf([
    [10, { id: 'm', partial: true, ...text('I look.') }],
    [20, { id: 'm', ...text('I look.'), ...usage(5, 2) }],
    [30, { id: 'f', ...call('t1'), ...usage(5, 4) }],
    [40, { ...answer('t1') }],
    [50, { ...usage(5, 4), finishReason: 'STOP' }],
    [90, { ...text('Small.'), ...usage(12, 1) }],
  ])
  expect(places).toEqual(['c1 begins before 0', 'c1 ends before 3', 'c2 begins before 5', 'c2 ends before 6'])
  expect(records[1]).toMatchObject({ messages: ['m', 'f'], usage: { inputTokens: 5, outputTokens: 4 }, duration: 30 })
  // It came whole: the wire told no first token.
  expect(records[2]).toMatchObject({ waited: 40 })
  expect(records[3]).not.toHaveProperty('firstToken')
  expect(records[3]).toMatchObject({ duration: 40, usage: { inputTokens: 12 } })
})

test('agents that run side by side do not shorten or end each other’s calls', () => {
  const { records, places } = recordsOf([
    [10, { author: 'a', branch: 'fan.a', ...call('t1'), ...usage(3, 1) }],
    [20, { author: 'b', branch: 'fan.b', partial: true, id: 'b', ...text('B') }],
    [30, { author: 'a', branch: 'fan.a', ...answer('t1') }],
    [40, { author: 'a', branch: 'fan.a', id: 'a', ...text('A'), ...usage(4, 1) }],
    [50, { author: 'b', branch: 'fan.b', id: 'b', ...text('B'), ...usage(3, 1) }],
    [70, { author: 'last', ...text('Done'), ...usage(9, 1) }],
  ])
  const begun = records.flatMap((each) => (each.kind === 'model.started' ? [[each.agent, each.waited]] : []))
  expect(begun).toEqual([
    ['a', 10],
    ['b', 20],
    ['a', 10],
    ['last', 20],
  ])
  expect(places.slice(-4)).toEqual(['c3 ends before 5', 'c2 ends before 5', 'c4 begins before 5', 'c4 ends before 6'])
  const took = records.flatMap((each) => (each.kind === 'model.finished' ? [[each.call, each.duration]] : []))
  expect(took).toEqual([
    ['c1', 10],
    ['c3', 10],
    ['c2', 50],
    ['c4', 20],
  ])
})

test('what an agent’s own code says, what ADK asks a person and what the user said is no model call', () => {
  const { records } = recordsOf([
    [10, text('From code')],
    [20, call('q', 'adk_request_confirmation')],
    [30, { author: 'user', ...text('Yes'), ...usage(1, 1) }],
    [40, { actions: { stateDelta: { a: 1 } } }],
  ])
  expect(records).toEqual([])
})

test('a failed model is a failed call, and a stream that breaks off fails the call that it cut', () => {
  const failed = recordsOf([[10, { errorCode: '429', errorMessage: 'too many' }]])
  expect(failed.records[1]).toMatchObject({ status: 'error', error: { code: 'model-error', message: 'too many' } })
  const why: Problem = { code: 'remote-error', message: 'the stream broke off' }
  const cut = recordsOf(
    [
      [10, { id: 'a', ...text('Whole'), ...usage(1, 1) }],
      [20, { id: 'b', partial: true, ...text('Ha') }],
    ],
    why,
  )
  expect(cut.records.map((each) => (each.kind === 'model.finished' ? [each.status, each.error] : each.call))).toEqual([
    'c1',
    ['ok', undefined],
    'c2',
    ['error', why],
  ])
})
