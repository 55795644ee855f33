import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chaos, sessions } from '../../../../../test/kit/arbitrary-events.ts'
import { loadViewVectors } from '../../../../../test/kit/vectors.ts'
import type { AdkEvent, AdkPart } from '../../event/adk-event.ts'
import type { Recorded, RunEvent } from '../../event/run-event.ts'
import { describeView, printed, withoutPartials } from '../../testing/index.ts'
import { fold } from '../view.ts'
import { itemsOf, openInterrupts, transcriptView } from './index.ts'
import type { Message, ToolCard } from './item.ts'
import type { Transcript } from './state.ts'

const rowsOf = (events: readonly RunEvent[], run = 'r', from = 1): readonly Recorded[] =>
  events.map((event, i) => ({ seq: from + i, at: 1000 + 10 * (from + i), run, event }))
const said = (message: string, parts: readonly AdkPart[], more: Partial<AdkEvent> = {}, node?: string): RunEvent => ({
  kind: 'agent',
  message,
  event: { id: message, author: 'writer', invocationId: 'i', timestamp: 0, content: { parts }, ...more },
  ...(node === undefined ? {} : { node }),
})
const started = (message?: string): RunEvent => ({
  kind: 'run.started',
  agent: 'writer',
  input: {
    messages: message === undefined ? [] : [{ id: 'u', role: 'user', content: { parts: [{ text: message }] } }],
  },
})
const call = (id: string | undefined, name: string): AdkPart => ({
  functionCall: { name, args: { q: 1 }, ...(id === undefined ? {} : { id }) },
})
const answer = (id: string | undefined, name: string, response: Record<string, string>): AdkPart => ({
  functionResponse: { name, response, ...(id === undefined ? {} : { id }) },
})
const messages = (state: Transcript): readonly Message[] => itemsOf(state).filter((item) => item.kind === 'message')
const cards = (state: Transcript): readonly ToolCard[] =>
  messages(state).flatMap(({ parts }) => parts.filter((part) => part.kind === 'tool'))
/** Without the two fields that say when a message was first seen. */
const lasting = (state: Transcript): unknown =>
  itemsOf(state).map((item) => (item.kind === 'message' ? { ...item, seq: 0, at: 0 } : item))

describeView({ describe, expect, test }, transcriptView, loadViewVectors('transcript'), {
  matches(state, expected) {
    expect(printed({ items: itemsOf(state), latest: state.latest })).toMatchObject(expected)
  },
  lasting,
})

describe('properties', () => {
  test('SPEC 5.3: the result does not depend on whether partials were kept', () => {
    fc.assert(
      fc.property(sessions(), (rows) => {
        expect(lasting(fold(transcriptView, withoutPartials(rows)))).toEqual(lasting(fold(transcriptView, rows)))
      }),
      { numRuns: 300 },
    )
  })

  test('SPEC 5.4: lanes that stream at the same time never mix', () => {
    fc.assert(
      fc.property(sessions(), (rows) => {
        for (const { author, role, text, thoughts } of messages(fold(transcriptView, rows))) {
          if (role === 'user') continue
          const letter = author === 'lead' ? 'a' : 'bcd'['123'.indexOf(author.at(-1)!)]!
          expect(`${text}${thoughts}`.replaceAll(letter, '')).toBe('')
        }
      }),
      { numRuns: 300 },
    )
  })

  test('keys are unique, and one item keeps its key', () => {
    fc.assert(
      fc.property(fc.oneof(sessions(), chaos()), (rows) => {
        let state = transcriptView.initial
        for (const row of rows) {
          const before = new Set(itemsOf(state).map(({ key }) => key))
          state = transcriptView.apply(state, row)
          const after = itemsOf(state).map(({ key }) => key)
          expect(new Set(after).size).toBe(after.length)
          expect(after).toEqual(expect.arrayContaining([...before]))
        }
      }),
      { numRuns: 200 },
    )
  })

  test('SPEC 5.2: an event changes at most the items it speaks of, and a token exactly one', () => {
    fc.assert(
      fc.property(sessions(), (rows) => {
        let state = transcriptView.initial
        for (const row of rows) {
          const before = new Map(itemsOf(state).map((item) => [item.key, item]))
          const next = transcriptView.apply(state, row)
          const changed = itemsOf(next).filter((item) => before.get(item.key) !== item)
          if (row.event.kind === 'agent' && row.event.event.partial === true) {
            expect(changed.length).toBe(next === state ? 0 : 1)
            expect(next.settled).toBe(state.settled)
          }
          state = next
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('text', () => {
  test('partials stream, the aggregate replaces them', () => {
    const parts = (text: string): AdkPart[] => [{ text }]
    let state = fold(
      transcriptView,
      rowsOf([said('m', parts('Hel'), { partial: true }), said('m', parts('lo'), { partial: true })]),
    )
    expect(messages(state)).toMatchObject([{ text: 'Hello', status: 'streaming', seq: 1 }])
    state = fold(transcriptView, rowsOf([said('m', parts('Hello!'))], 'r', 3), state)
    expect(messages(state)).toMatchObject([
      { text: 'Hello!', status: 'done', seq: 1, endSeq: 3, parts: [{ text: 'Hello!' }] },
    ])
    expect(state.open).toEqual([])
  })

  test('an end without text keeps the streamed text', () => {
    const state = fold(
      transcriptView,
      rowsOf([
        said('m', [{ text: 'half' }], { partial: true }),
        said('m', [], { errorCode: '500', errorMessage: 'gone' }),
      ]),
    )
    expect(messages(state)).toMatchObject([{ text: 'half', status: 'done', error: { code: '500', message: 'gone' } }])
  })

  test('thoughts and text keep their order and stay separate', () => {
    const delta = (text: string, thought = false): RunEvent => said('m', [{ text, thought }], { partial: true })
    const state = fold(
      transcriptView,
      rowsOf([delta('a', true), delta('b', true), delta('c'), delta('d', true), delta('e')]),
    )
    expect(messages(state)).toMatchObject([
      {
        text: 'ce',
        thoughts: 'abd',
        parts: [
          { kind: 'thought', text: 'ab' },
          { kind: 'text', text: 'c' },
          { kind: 'thought', text: 'd' },
          { kind: 'text', text: 'e' },
        ],
      },
    ])
  })

  test('a whole event after a whole event of one message adds to it; the same event again does not', () => {
    const first = said('m', [{ text: 'one ' }], { id: 'e1' })
    const state = fold(transcriptView, rowsOf([first, first, said('m', [{ text: 'two' }], { id: 'e2' })]))
    expect(messages(state)).toMatchObject([{ text: 'one two', parts: [{ text: 'one ' }, { text: 'two' }] }])
    const streamedOn = fold(transcriptView, rowsOf([said('m', [{ text: ' three' }], { partial: true })], 'r', 9), state)
    expect(messages(streamedOn)).toMatchObject([{ text: 'one two three' }])
    const ended = fold(transcriptView, rowsOf([said('m', [{ text: ' 3' }], { id: 'e3' })], 'r', 10), streamedOn)
    expect(messages(ended)).toMatchObject([{ text: 'one two 3' }])
  })

  test('the same message id in two runs is two messages', () => {
    const state = fold(transcriptView, [
      ...rowsOf([said('1', [{ text: 'a' }])], 'r1'),
      ...rowsOf([said('1', [{ text: 'b' }])], 'r2', 5),
    ])
    expect(messages(state).map(({ key, text }) => [key, text])).toEqual([
      ['r1/1', 'a'],
      ['r2/1', 'b'],
    ])
  })

  test('a message that a client sends again is not added twice', () => {
    const rows = [
      ...rowsOf([started('hi')], 'r1'),
      ...rowsOf([started('hi'), said('u', [{ text: 'hi' }], { author: 'user' })], 'r2', 2),
    ]
    expect(messages(fold(transcriptView, rows)).filter(({ role, run }) => role === 'user' && run === 'r1').length).toBe(
      1,
    )
    expect(
      messages(fold(transcriptView, rowsOf([started('hi'), said('u', [{ text: 'hi' }], { author: 'user' })]))).length,
    ).toBe(1)
  })

  test('300 messages streaming at once stay bounded and whole', () => {
    const begun = Array.from({ length: 300 }, (_, i) => said(`m${i}`, [{ text: 'x' }], { partial: true }))
    const more = Array.from({ length: 300 }, (_, i) => said(`m${i}`, [{ text: 'y' }], { partial: true }))
    const state = fold(transcriptView, rowsOf([...begun, ...more]))
    expect(state.open.length).toBe(256)
    expect(messages(state).map(({ text }) => text)).toEqual(Array.from({ length: 300 }, () => 'xy'))
  })
})

describe('tools', () => {
  test('a card goes from pending to answered, with its duration; a partial call is no card', () => {
    const partial = said('m', [call('c1', 'search')], { partial: true })
    expect(fold(transcriptView, rowsOf([partial]))).toBe(transcriptView.initial)
    let state = fold(transcriptView, rowsOf([partial, said('m', [{ text: 'Let me see.' }, call('c1', 'search')])]))
    expect(cards(state)).toMatchObject([{ call: 'c1', name: 'search', args: { q: 1 }, status: 'pending', at: 1020 }])
    state = fold(transcriptView, rowsOf([said('m2', [answer('c1', 'search', { result: 'found' })])], 'r', 12), state)
    expect(cards(state)).toMatchObject([{ status: 'ok', result: { result: 'found' }, duration: 100, endSeq: 12 }])
    expect(messages(state).length).toBe(1)
  })

  test("an error in the result is the card's error", () => {
    const state = fold(
      transcriptView,
      rowsOf([
        said('m', [call('c1', 'a'), call('c2', 'b')]),
        said('m2', [answer('c1', 'a', { error: 'no key' }), answer('c2', 'b', { error: '' })]),
      ]),
    )
    expect(cards(state)).toMatchObject([{ status: 'error', error: 'no key' }, { status: 'ok' }])
  })

  test('calls without ids are answered in order of their name', () => {
    const state = fold(
      transcriptView,
      rowsOf([
        said('m', [call(undefined, 'search'), call(undefined, 'read'), call(undefined, 'search')]),
        said('m2', [answer(undefined, 'search', { n: '1' })]),
        said('m3', [answer(undefined, 'read', { n: '2' }), answer(undefined, 'search', { n: '3' })]),
        said('m4', [answer(undefined, 'search', { n: '4' })]),
      ]),
    )
    expect(cards(state).map(({ name, result, orphan }) => [name, result?.n, orphan])).toEqual([
      ['search', '1', undefined],
      ['read', '2', undefined],
      ['search', '3', undefined],
      ['search', '4', true],
    ])
    expect(new Set(cards(state).map(({ key }) => key)).size).toBe(4)
  })

  test('an answer without a call is shown as such', () => {
    const state = fold(transcriptView, rowsOf([said('m', [answer('c9', 'search', { result: 'x' })])]))
    expect(cards(state)).toMatchObject([{ call: 'c9', orphan: true, status: 'ok', result: { result: 'x' } }])
    expect(cards(state)[0]).not.toHaveProperty('duration')
  })

  test('a long-running call keeps its later answer, which may come in a later run', () => {
    const asked = said('m', [call('c1', 'approve')], { longRunningToolIds: ['c1'] })
    const rows = [
      ...rowsOf(
        [
          started(),
          asked,
          said('m2', [answer('c1', 'approve', { status: 'pending' })]),
          { kind: 'run.finished', outcome: 'interrupted' },
        ],
        'r1',
      ),
      ...rowsOf(
        [
          {
            kind: 'run.started',
            agent: 'writer',
            input: {
              messages: [{ id: 't', role: 'tool', content: { parts: [answer('c1', 'approve', { status: 'yes' })] } }],
            },
          },
        ],
        'r2',
        9,
      ),
    ] as Recorded[]
    const state = fold(transcriptView, rows)
    expect(cards(state)).toMatchObject([{ longRunning: true, result: { status: 'yes' }, endSeq: 9 }])
    expect(messages(state).length).toBe(1)
  })

  test('a run that failed leaves no card pending; one that waits does', () => {
    const open = [started(), said('m', [call('c1', 'search')])]
    const end = (outcome: 'failed' | 'interrupted'): RunEvent => ({ kind: 'run.finished', outcome })
    expect(cards(fold(transcriptView, rowsOf([...open, end('failed')])))).toMatchObject([{ status: 'cut' }])
    expect(cards(fold(transcriptView, rowsOf([...open, end('interrupted')])))).toMatchObject([{ status: 'pending' }])
  })
})

describe('runs', () => {
  test('what still streams when a run ends is cut, before the end', () => {
    const state = fold(
      transcriptView,
      rowsOf([
        started('go'),
        said('m', [{ text: 'Hal' }], { partial: true }),
        { kind: 'run.finished', outcome: 'cancelled' },
        { kind: 'run.finished', outcome: 'done' },
      ]),
    )
    expect(itemsOf(state)).toMatchObject([
      { kind: 'start', agent: 'writer' },
      { kind: 'message', role: 'user', text: 'go' },
      { kind: 'message', text: 'Hal', status: 'cut', endSeq: 3 },
      { kind: 'end', outcome: 'cancelled', duration: 20 },
    ])
    expect(state.latest).toEqual({ run: 'r', agent: 'writer', status: 'cancelled' })
  })

  test("an interrupt is open until it is answered, by event, by input or by its call's result", () => {
    const ask = (id: string, call?: string): RunEvent => ({
      kind: 'interrupt',
      id,
      reason: 'confirmation',
      ...(call === undefined ? {} : { call }),
    })
    const first = fold(
      transcriptView,
      rowsOf([started(), said('m', [call('c1', 'x')]), ask('i1'), ask('i2'), ask('i3', 'c1')], 'r1'),
    )
    expect(openInterrupts(first).map(({ id }) => id)).toEqual(['i1', 'i2', 'i3'])
    const input = { messages: [], resume: [{ interrupt: 'i2', status: 'cancelled' as const }] }
    const second = fold(
      transcriptView,
      rowsOf(
        [
          { kind: 'run.started', agent: 'writer', input },
          { kind: 'resumed', interrupt: 'i1', status: 'resolved', payload: { ok: true } },
          said('m9', [answer('c1', 'x', { result: 'y' })]),
        ],
        'r2',
        10,
      ),
      first,
    )
    expect(openInterrupts(second)).toEqual([])
    expect(itemsOf(second).filter((item) => item.kind === 'interrupt')).toMatchObject([
      { id: 'i1', status: 'resolved', answer: { ok: true }, answeredAt: 1110 },
      { id: 'i2', status: 'cancelled' },
      { id: 'i3', status: 'resolved', answer: { result: 'y' } },
    ])
  })

  test('a superseded message is marked, and the same id sent again is a new one', () => {
    const rows = rowsOf([
      said('m', [{ text: 'lost' }], { partial: true }),
      { kind: 'superseded', messages: ['m', 'unknown'], nodes: [] },
      said('m', [{ text: 'kept' }]),
    ])
    expect(messages(fold(transcriptView, rows))).toMatchObject([
      { key: 'r/m', text: 'lost', superseded: true, status: 'cut' },
      { key: 'r/m~2', text: 'kept', status: 'done' },
    ])
  })

  test('a call of a superseded message that is made again with the same id has a card of its own', () => {
    const rows = rowsOf([
      said('m', [call('1', 'weather')]),
      { kind: 'superseded', messages: ['m'], nodes: [] },
      said('n', [call('1', 'weather')]),
      said('o', [answer('1', 'weather', { result: 'sunny' })]),
    ])
    const [first, second] = messages(fold(transcriptView, rows))
    expect(first).toMatchObject({ superseded: true, parts: [{ kind: 'tool', status: 'pending' }] })
    expect(second).toMatchObject({ id: 'n', parts: [{ kind: 'tool', result: { result: 'sunny' } }] })
  })

  test('an artifact of a node that runs again is marked; one of another node is not', () => {
    const saved = (node: string): RunEvent => ({
      kind: 'artifact',
      id: node,
      name: 'f',
      type: 'note',
      version: 1,
      node,
    })
    const rows = rowsOf([
      started('x'),
      saved('kept@1'),
      saved('lost@1'),
      { kind: 'superseded', messages: [], nodes: ['lost@1'], facts: true },
      saved('lost@2'),
    ])
    const artifacts = itemsOf(fold(transcriptView, rows)).filter(({ kind }) => kind === 'artifact')
    expect(artifacts.map((item) => ('superseded' in item ? item.superseded : undefined))).toEqual([
      undefined,
      true,
      undefined,
    ])
  })

  test('events of other views leave the same reference', () => {
    const state = fold(transcriptView, rowsOf([started('x')]))
    const others: RunEvent[] = [
      { kind: 'state', patch: [] },
      { kind: 'tasks', tasks: [] },
      { kind: 'tasks.changed', changes: [{ task: '1', title: 't' }] },
      { kind: 'task.started', task: 't' },
      { kind: 'task.finished', task: 't', status: 'done', result: '' },
      { kind: 'task.reflected', task: 't', text: '' },
      { kind: 'data', id: 'd', operation: 'create', itemType: 'x' },
      { kind: 'node.finished', node: 'none', status: 'ok' },
      { kind: 'resumed', interrupt: 'none', status: 'resolved' },
      { kind: 'superseded', messages: [], nodes: [] },
      said('m', [{ text: '' }], { partial: true }),
      said('m', []),
    ]
    for (const event of others) expect(transcriptView.apply(state, { seq: 9, at: 9, run: 'r', event })).toBe(state)
  })
})

test('tools that run at the same time each show their own duration', () => {
  const event = { id: 'e', author: 'a', invocationId: 'r', timestamp: 1 }
  const call = (id: string) => ({ functionCall: { id, name: id, args: {} } })
  const answer = (id: string) => ({ functionResponse: { id, name: id, response: {} } })
  const ran = (id: string, duration: number): RunEvent => ({
    kind: 'tool.finished',
    call: id,
    name: id,
    status: 'ok',
    duration,
  })
  const events: RunEvent[] = [
    { kind: 'agent', message: 'm1', event: { ...event, content: { role: 'model', parts: [call('x'), call('y')] } } },
    ran('x', 3),
    ran('y', 40),
    ran('unknown', 1),
    { kind: 'agent', message: 'm2', event: { ...event, content: { role: 'user', parts: [answer('x'), answer('y')] } } },
    ran('x', 99),
  ]
  const rows = events.map((each, i) => ({ seq: i + 1, at: 1000 * i, run: 'r', event: each }))
  const [message] = itemsOf(fold(transcriptView, rows))
  expect(message).toMatchObject({ parts: [{ duration: 3 }, { duration: 40 }] })
})
