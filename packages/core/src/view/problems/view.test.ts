import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chaos, sessions } from '../../../../../test/kit/arbitrary-events.ts'
import { loadViewVectors } from '../../../../../test/kit/vectors.ts'
import type { AdkEvent, AdkPart } from '../../event/adk-event.ts'
import type { Recorded, RunEvent } from '../../event/run-event.ts'
import { describeView } from '../../testing/index.ts'
import { fold } from '../view.ts'
import { type StreamProblemCode, streamProblems } from './code.ts'
import { problemsAtEnd, problemsView } from './index.ts'
import { mostIds } from './step.ts'

describeView({ describe, expect, test }, problemsView, loadViewVectors('problems'), {
  // Deltas that repeat the text so far can be seen only in the deltas.
  lasting: ({ problems }) => problems.toArray().filter(({ code }) => code !== 'cumulative-text'),
})

const started: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [] } }
const done: RunEvent = { kind: 'run.finished', outcome: 'done' }
const failed: RunEvent = { kind: 'run.finished', outcome: 'failed' }
const said = (message: string, parts: readonly AdkPart[], more: Partial<AdkEvent> = {}, at: object = {}): RunEvent => ({
  kind: 'agent',
  message,
  event: { id: '', author: 'a', invocationId: 'i', timestamp: 0, content: { parts }, ...more },
  ...at,
})
const delta = (message: string, text: string): RunEvent => said(message, [{ text }], { partial: true })
const call = (id?: string, more: object = {}): AdkPart => ({
  functionCall: { ...(id === undefined ? {} : { id }), name: 'f', ...more },
})
const answer = (id?: string, response = {}): AdkPart => ({
  functionResponse: { ...(id === undefined ? {} : { id }), name: 'f', response },
})
const node = (name: string, parent?: string): RunEvent => ({
  kind: 'node.started',
  node: name,
  agent: 'a',
  ...(parent === undefined ? {} : { parent }),
})
const patched = (n: string): RunEvent => ({
  kind: 'state',
  node: n,
  patch: [{ op: 'add', path: `/${n}`, value: 1 }],
})
const nodeEnd = (name: string): RunEvent => ({ kind: 'node.finished', node: name, status: 'ok' })

/** What is found in a run with these events between its start and its end: code and seq (the start is 1). */
const found = (...events: RunEvent[]) => listed([started, ...events, done])
const listed = (events: readonly RunEvent[], run = 'r') =>
  [...fold(problemsView, rows(events, run)).problems].map(({ code, seq }) => [code, seq])

describe('each code, and its near misses', () => {
  test.each<[name: string, events: RunEvent[], found: [StreamProblemCode, number][]]>([
    ['a good run', [node('n'), delta('m', 'a'), said('m', [{ text: 'a' }]), nodeEnd('n')], []],
    [
      'a frame that could not be read',
      [{ kind: 'foreign', dialect: 'adk', raw: '{', reason: 'not JSON' }],
      [['unread', 2]],
    ],
    ['a run that started twice', [started], [['run-repeated', 2]]],
    [
      'an event that is much older',
      [said('m', [], { timestamp: 9e8 }), said('n', [], { timestamp: 1e8 })],
      [['time-backwards', 3]],
    ],
    [
      'an event that is a little older',
      [said('m', [], { timestamp: 9e8 }), said('n', [], { timestamp: 9e8 - 6e5 })],
      [],
    ],
    ['an event delivered twice', [said('m', [], { id: 'e' }), said('m', [], { id: 'e' })], [['event-repeated', 3]]],
    [
      'cumulative deltas, reported once',
      [
        delta('m', 'Hello, world'),
        delta('m', 'Hello, world, and'),
        delta('m', 'Hello, world, and more'),
        said('m', [{ text: 'Hello, world, and more' }]),
      ],
      [['cumulative-text', 3]],
    ],
    ['short deltas that repeat', [delta('m', 'ha'), delta('m', 'haha'), said('m', [{ text: 'hahaha' }])], []],
    ['a delta behind the whole', [said('m', [{ text: 'a' }]), delta('m', 'b')], [['delta-after-whole', 3]]],
    ['an empty delta behind the whole', [said('m', [{ text: 'a' }]), delta('m', '')], []],
    ['a lost delta', [delta('m', 'a'), said('m', [{ text: 'abc' }])], [['text-differs', 3]]],
    ['thoughts do not count as text', [delta('m', 'a'), said('m', [{ text: 'hm', thought: true }, { text: 'a' }])], []],
    ['an aggregate without text', [delta('m', 'a'), said('m', [], { errorCode: '429' })], []],
    ['a message never completed', [delta('m', 'a')], [['text-not-closed', 2]]],
    ['a part that is none', [said('m', [7 as never])], [['bad-part', 2]]],
    ['content that is none', [said('m', [], { content: 'x' as never })], [['bad-part', 2]]],
    ['text that is none', [said('m', [{ text: 7 as never }])], [['bad-part', 2]]],
    ['a call without a name', [said('m', [{ functionCall: {} as never }])], [['bad-part', 2]]],
    ['content that is not there', [said('m', [], { content: null as never })], []],
    ['a result without a call', [said('m', [answer('1')])], [['result-without-call', 2]]],
    ['a nameless result without a call', [said('m', [answer()])], [['result-without-call', 2]]],
    ['a call answered', [said('m', [call('1')]), said('n', [answer('1')])], []],
    ['calls without ids answered', [said('m', [call(), call()]), said('n', [answer()]), said('o', [answer()])], []],
    ['one answer too many', [said('m', [call()]), said('n', [answer(), answer()])], [['result-without-call', 3]]],
    ['a call without an id left open', [said('m', [call()])], [['call-unanswered', 2]]],
    ['a call answered twice', [said('m', [call('1')]), said('n', [answer('1'), answer('1')])], [['answered-twice', 3]]],
    [
      'a long-running call answered twice',
      [said('m', [call('1')], { longRunningToolIds: ['1'] }), said('n', [answer('1'), answer('1')])],
      [],
    ],
    [
      'a call with an id used before',
      [said('m', [call('1')]), said('n', [answer('1')]), said('o', [call('1')]), said('p', [answer('1')])],
      [['call-repeated', 4]],
    ],
    [
      'a call that streamed first',
      [said('m', [call('1')], { partial: true }), said('m', [call('1')]), said('n', [answer('1')])],
      [],
    ],
    ['a call that only streamed', [said('m', [call('1')], { partial: true }), said('n', [answer('1')])], []],
    ['a call never answered', [said('m', [call('1')])], [['call-unanswered', 2]]],
    ['a long-running call never answered', [said('m', [call('1')], { longRunningToolIds: ['1'] })], []],
    [
      'arguments that are none',
      [said('m', [call('1', { args: '{"a":' })]), said('n', [answer('1')])],
      [['bad-args', 2]],
    ],
    ['a patch that does not apply', [{ kind: 'state', patch: [{ op: 'remove', path: '/x' }] }], [['lost-patch', 2]]],
    [
      'a patch that does',
      [
        {
          kind: 'state',
          patch: [
            { op: 'add', path: '/x', value: 1 },
            { op: 'remove', path: '/x' },
          ],
        },
      ],
      [],
    ],
    [
      'a patch on what an agent wrote',
      [said('m', [], { actions: { stateDelta: { x: 1 } } }), { kind: 'state', patch: [{ op: 'remove', path: '/x' }] }],
      [],
    ],
    [
      'a bad proof in a response',
      [said('m', [call('1')]), said('n', [answer('1', { proof_layer: { confidence: 7 } })])],
      [['bad-proof', 3]],
    ],
    [
      'a bad proof in an inner result',
      [said('m', [call('1')]), said('n', [answer('1', { x: { proof_layer: { citations: {} } } })])],
      [['bad-proof', 3]],
    ],
    [
      'a bad proof in text and state, reported once',
      [
        said('m', [{ text: '{"proof_layer":{"confidence":7}}' }], {
          actions: { stateDelta: { k: { proof_layer: { confidence: 7 } } } },
        }),
      ],
      [['bad-proof', 2]],
    ],
    ['a bad proof in an output', [said('m', [], { output: { proof_layer: 'x' } })], [['bad-proof', 2]]],
    [
      'a bad proof in a patch',
      [{ kind: 'state', patch: [{ op: 'add', path: '/p', value: { proof_layer: { confidence: -1 } } }] }],
      [['bad-proof', 2]],
    ],
    ['a good proof', [said('m', [call('1')]), said('n', [answer('1', { proof_layer: { confidence: 0.7 } })])], []],
    ['a node that started twice', [node('n'), node('n'), nodeEnd('n')], [['node-repeated', 3]]],
    ['a node that started again after its end', [node('n'), nodeEnd('n'), node('n')], [['node-repeated', 4]]],
    ['the end of a node that never started', [nodeEnd('n')], [['node-unknown', 2]]],
    [
      'a node named that never started, reported once',
      [node('n'), said('m', [], {}, { node: 'x' }), said('o', [], {}, { node: 'x' }), nodeEnd('n')],
      [['node-unknown', 3]],
    ],
    ['nodes named on a wire without node events', [said('m', [], {}, { node: 'x' })], []],
    ['a parent that never started', [node('n', 'p'), nodeEnd('n')], [['node-unknown', 2]]],
    ['a node that ended twice', [node('n'), nodeEnd('n'), nodeEnd('n')], [['node-ended-twice', 4]]],
    ['a parent that ended first', [node('p'), node('n', 'p'), nodeEnd('p'), nodeEnd('n')], [['node-end-order', 4]]],
    [
      'a parent that ended last',
      [node('p'), node('n', 'p'), node('o', 'p'), nodeEnd('n'), nodeEnd('o'), nodeEnd('p')],
      [],
    ],
    [
      'words in a node that had ended',
      [node('n'), nodeEnd('n'), said('m', [], {}, { node: 'n' })],
      [['node-after-end', 4]],
    ],
    [
      'what a node wrote, applied after its end, when the last node of its step had ended',
      [node('n'), node('o'), nodeEnd('n'), patched('n'), nodeEnd('o')],
      [],
    ],
    ['state of a node that never started', [node('o'), nodeEnd('o'), patched('n')], [['node-unknown', 4]]],
    ['a node that never ended', [node('n')], [['node-not-ended', 2]]],
    [
      'a task not in the plan',
      [
        { kind: 'tasks', tasks: [] },
        { kind: 'task.started', task: 't' },
      ],
      [['task-unknown', 3]],
    ],
    [
      'a task of an earlier chat',
      [
        { kind: 'task.started', task: 't' },
        { kind: 'task.reflected', task: 't', text: '' },
      ],
      [],
    ],
    ['an answer to no question', [{ kind: 'resumed', interrupt: 'q', status: 'resolved' }], [['interrupt-unknown', 2]]],
    [
      'an answer, and the same again',
      [
        { kind: 'interrupt', id: 'q', reason: 'confirmation' },
        { kind: 'resumed', interrupt: 'q', status: 'resolved' },
        { kind: 'resumed', interrupt: 'q', status: 'resolved' },
      ],
      [['interrupt-unknown', 4]],
    ],
    ['an event of an unknown kind', [{ kind: 'dance' } as never], [['unread', 2]]],
    [
      'a step done again with the same ids',
      [
        node('n'),
        said('m', [call('1')]),
        delta('o', 'lost'),
        { kind: 'superseded', messages: ['m', 'o'], nodes: ['n'] },
        node('n'),
        said('m', [call('1')]),
        said('p', [answer('1')]),
        nodeEnd('n'),
      ],
      [['superseded', 5]],
    ],
    [
      'a call whose answer was cut short is answered again',
      [
        said('m', [call('1'), call()]),
        said('n', [answer('1'), answer()]),
        { kind: 'superseded', messages: ['n'], nodes: [] },
        said('o', [answer('1'), answer()]),
      ],
      [['superseded', 4]],
    ],
    [
      'a call of a step that is done again, whose answer was cut short, too',
      [
        said('m', [call('1')]),
        said('n', [answer('1')]),
        { kind: 'superseded', messages: ['m', 'n'], nodes: [] },
        said('p', [call('1')]),
        said('q', [answer('1')]),
      ],
      [['superseded', 4]],
    ],
  ])('%s', (_, events, expected) => {
    expect(found(...events)).toEqual(expected)
  })
})

describe('the ends of runs', () => {
  test('nothing may come after the end, nor before the start', () => {
    expect(listed([started, done, said('m', [{ text: 'late' }]), done])).toEqual([
      ['after-end', 3],
      ['second-end', 4],
    ])
    expect(listed([said('m', []), said('n', []), started, done])).toEqual([['before-start', 1]])
    expect(listed([started, done, started])).toEqual([
      ['after-end', 3],
      ['run-repeated', 3],
    ])
  })

  test('events of a person outside any run need neither start nor end', () => {
    expect(
      listed(
        [
          { kind: 'state', patch: [{ op: 'add', path: '/x', value: 1 }] },
          { kind: 'tasks', tasks: [] },
        ],
        '',
      ),
    ).toEqual([])
  })

  test('SPEC 1.12: a change names a step of the run that was changed, whether that step has ended or is still to begin', () => {
    const changed = (name: string): RunEvent => ({
      kind: 'changed',
      field: 'tool',
      by: 'u',
      of: { session: 's', run: 'r', seq: 3 },
      node: name,
      after: {},
    })
    const nothing: RunEvent = { kind: 'superseded', messages: [], nodes: [] }
    const ended: RunEvent = { kind: 'node.finished', node: 'a@1', status: 'ok' }
    expect(listed([started, node('a@1'), ended, nothing, changed('a@1'), changed('b@1'), done])).toEqual([])
  })

  test('a run that failed or was stopped has a reason to leave things open', () => {
    const open = [started, node('n'), said('m', [call('1')]), delta('o', 'a')]
    expect(listed([...open, failed])).toEqual([])
    expect(listed([...open, { kind: 'run.finished', outcome: 'cancelled' }])).toEqual([])
    expect(listed([...open, done]).map(([code]) => code)).toEqual([
      'node-not-ended',
      'call-unanswered',
      'text-not-closed',
    ])
  })

  test('the end of the stream makes the missing end a problem, once for each run', () => {
    const state = fold(problemsView, [
      ...rows([started, done], 'r1'),
      ...rows([started, said('m', [])], 'r2', 3),
      ...rows([started], 'r3', 5),
    ])
    expect(state.total).toBe(0)
    expect(problemsAtEnd(state).problems.toArray()).toMatchObject([
      { code: 'no-end', severity: 'error', run: 'r2', seq: 4 },
      { code: 'no-end', run: 'r3', seq: 5 },
    ])
    expect(problemsAtEnd(state).counts).toEqual({ 'no-end': 2 })
  })

  test('a run that a decoder had to end has the problem no-end', () => {
    const cut: RunEvent = {
      kind: 'run.finished',
      outcome: 'failed',
      error: { code: 'cut', message: 'the stream broke off' },
    }
    expect(listed([started, cut])).toEqual([['no-end', 2]])
  })

  test('a frame after the end that cannot be read is two problems', () => {
    const foreign: RunEvent = { kind: 'foreign', dialect: 'plan', raw: '', reason: 'after the end' }
    expect(listed([started, done, foreign])).toEqual([
      ['after-end', 3],
      ['unread', 3],
    ])
  })

  test('a later run may answer what an earlier one left open, and what it asked a person about', () => {
    const waits: RunEvent = { kind: 'run.finished', outcome: 'interrupted' }
    const first = [
      started,
      said('m', [call('1'), call('2')], { longRunningToolIds: ['2'] }),
      said('n', [answer('1')]),
      waits,
    ]
    const second = [started, said('o', [answer('1'), answer('2'), answer('2')]), done]
    const state = fold(problemsView, [...rows(first, 'r1'), ...rows(second, 'r2', 5)])
    expect(state.problems.toArray()).toEqual([])
    const third = fold(problemsView, rows([started, said('p', [answer('1')]), done], 'r3', 8), state)
    expect(third.problems.toArray()).toMatchObject([{ code: 'result-without-call', call: '1', run: 'r3' }])
  })

  test('a result that names no tool is told without one', () => {
    const nameless: AdkPart = { functionResponse: { id: 'c9', name: '', response: {} } }
    const [named, unnamed] = [answer('c9'), nameless].map(
      (part) => fold(problemsView, rows([started, said('m', [part])])).problems.at(0)?.message,
    )
    expect([named, unnamed]).toEqual(['The result "c9" of "f" answers no call.', 'The result "c9" answers no call.'])
  })

  test('a later run whose answer was cut short answers again', () => {
    const first: RunEvent[] = [started, said('m', [call('1')]), { kind: 'run.finished', outcome: 'interrupted' }]
    const second: RunEvent[] = [
      started,
      said('n', [answer('1')]),
      { kind: 'superseded', messages: ['n'], nodes: [] },
      said('o', [answer('1')]),
      done,
    ]
    const state = fold(problemsView, [...rows(first, 'r1'), ...rows(second, 'r2', 4)])
    expect(state.problems.toArray()).toMatchObject([{ code: 'superseded', seq: 6 }])
  })

  test("the client's own tools are answered by the next run", () => {
    const asks: RunEvent = {
      kind: 'run.started',
      agent: 'a',
      input: { messages: [], tools: [{ name: 'f', description: '' }] },
    }
    expect(listed([asks, said('m', [call('1'), call()]), done])).toEqual([])
  })
})

describe('bounds', () => {
  test('of one code fifty are listed, all are counted', () => {
    const state = fold(
      problemsView,
      rows([started, ...Array.from({ length: 80 }, (_, i) => said(`m${i}`, [answer(`${i}`)]))]),
    )
    expect([state.problems.length, state.total, state.counts]).toEqual([50, 80, { 'result-without-call': 80 }])
  })

  test('numbers must go up', () => {
    const [one, two] = rows([started, said('m', [])])
    expect(fold(problemsView, [two, one] as Recorded[]).problems.toArray()).toMatchObject([
      { code: 'before-start', seq: 2 },
      { code: 'seq-order', seq: 1, earlier: 2 },
    ])
  })

  test('beyond its limit it tracks no new ids, reports that once, and reports no problem about untracked ids', () => {
    const parts = Array.from({ length: mostIds }, (_, i) => call(`${i}`))
    const state = fold(
      problemsView,
      rows([
        started,
        said('m', parts),
        said('n', [call('x')]),
        said('o', [answer('y')]),
        nodeEnd('n'),
        delta('q', 'a'),
        failed,
      ]),
    )
    expect(state.counts).toEqual({ 'too-much': 1 })
  })
})

test('every message is a sentence, and every code is in the table', () => {
  fc.assert(
    fc.property(chaos(), (log) => {
      for (const problem of problemsAtEnd(fold(problemsView, log)).problems) {
        expect(problem.message).toMatch(/^[A-Z].*\.$/s)
        expect(problem.severity).toBe(streamProblems[problem.code][0])
        expect(log.some(({ seq }) => seq === problem.seq)).toBe(true)
      }
    }),
    { numRuns: 200 },
  )
})

test('logs as engines write them are clean', () => {
  fc.assert(
    fc.property(sessions(), (log) => {
      const codes = new Set(
        problemsAtEnd(fold(problemsView, log))
          .problems.toArray()
          .map(({ code }) => code),
      )
      // The generator leaves some messages without an aggregate and some runs without an end, on purpose.
      for (const known of ['text-not-closed', 'no-end'] as const) codes.delete(known)
      expect([...codes]).toEqual([])
    }),
    { numRuns: 200 },
  )
})

function rows(events: readonly RunEvent[], run = 'r', from = 1): readonly Recorded[] {
  return events.map((event, i) => ({ seq: from + i, at: from + i, run, event }))
}
