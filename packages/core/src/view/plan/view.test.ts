import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sessions } from '../../../../../test/kit/arbitrary-events.ts'
import { loadViewVectors } from '../../../../../test/kit/vectors.ts'
import type { AdkPart } from '../../event/adk-event.ts'
import type { Recorded, RunEvent, RunFinished, Task, TaskEdit } from '../../event/run-event.ts'
import { describeView, printed, withoutPartials } from '../../testing/index.ts'
import { fold } from '../view.ts'
import { planView } from './index.ts'

describeView({ describe, expect, test }, planView, loadViewVectors('plan'))

const task = (id: string, facts: Partial<Task> = {}): Task => ({ id, title: id, status: 'pending', order: 0, ...facts })
const started: RunEvent = { kind: 'run.started', agent: 'planner', input: { messages: [] } }
const execute: RunEvent = { kind: 'run.started', agent: 'planner', input: { messages: [], props: { mode: 'execute' } } }
const ended = (outcome: RunFinished['outcome']): RunEvent => ({ kind: 'run.finished', outcome })
const settle = (id: string): RunEvent => ({ kind: 'task.finished', task: id, status: 'done', result: '' })

describe('mode', () => {
  const two: RunEvent = { kind: 'tasks', tasks: [task('a'), task('b')] }
  test.each<[name: string, events: RunEvent[], mode: string]>([
    ['a chat plans', [started, two, ended('done')], 'planning'],
    ['an execution executes', [two, execute], 'executing'],
    [
      'a task under way executes, whatever the client called the run',
      [started, two, { kind: 'task.started', task: 'a' }],
      'executing',
    ],
    [
      'an execution that settled every task completed it',
      [two, execute, settle('a'), settle('b'), ended('done')],
      'completed',
    ],
    ['one that was stopped paused it', [two, execute, settle('a'), ended('cancelled')], 'paused'],
    ['one that failed paused it', [two, execute, settle('a'), settle('b'), ended('failed')], 'paused'],
    ['one that waits for a person paused it', [two, execute, ended('interrupted')], 'paused'],
    ['one that left tasks over paused it', [two, execute, settle('a'), ended('done')], 'paused'],
    [
      'new tasks after it plan again',
      [two, execute, settle('a'), settle('b'), ended('done'), { kind: 'tasks', tasks: [task('c')] }],
      'planning',
    ],
    ['tasks that change while it runs do not', [two, execute, { kind: 'tasks', tasks: [task('c')] }], 'executing'],
    [
      'a list of settled tasks leaves it as it was',
      [{ kind: 'tasks', tasks: [task('a', { status: 'done' })] }],
      'planning',
    ],
  ])('%s', (_, events, mode) => {
    expect(fold(planView, rows(events)).mode).toBe(mode)
  })

  test('the current task is known until it is finished or gone', () => {
    const begin: RunEvent = { kind: 'task.started', task: 'a' }
    expect(fold(planView, rows([two, begin])).current).toBe('a')
    expect(fold(planView, rows([two, begin, settle('b')])).current).toBe('a')
    expect(fold(planView, rows([two, begin, two])).current).toBe('a')
    expect(fold(planView, rows([two, begin, settle('a')])).current).toBeUndefined()
    expect(fold(planView, rows([two, begin, { kind: 'tasks', tasks: [] }])).current).toBeUndefined()
    expect(fold(planView, rows([two, begin, ended('done')])).current).toBeUndefined()
  })
})

test("a person's edit is distinguished from an agent's step", () => {
  const [before, after] = [task('a', { status: 'done' }), task('a', { title: 'A', status: 'pending' })]
  const state = fold(planView, [
    row(1, 'r', { kind: 'tasks', tasks: [before] }),
    row(2, '', { kind: 'tasks', tasks: [after] }),
    row(3, '', { kind: 'tasks', tasks: [after] }),
  ])
  expect(state.tasks.at(0)).toMatchObject({ title: 'A', edited: 2 })
  expect([...(state.tasks.at(0)?.changes ?? [])].map(({ status, by }) => [status, by])).toEqual([
    ['done', 'agent'],
    ['pending', 'user'],
  ])
  expect(state.summary).toEqual({ total: 1, completed: 0, failed: 0 })
})

describe('a change of the tasks', () => {
  const list: RunEvent = {
    kind: 'tasks',
    tasks: [
      task('a', { status: 'done', result: 'r', reflection: 'f' }),
      task('b', { order: 1 }),
      task('c', { order: 2 }),
    ],
  }
  const after = (...events: RunEvent[]) => fold(planView, rows([list, ...events]))
  const titles = (state: ReturnType<typeof after>) =>
    state.tasks.toArray().map(({ title, order }) => `${order} ${title}`)

  test('SPEC 1.8: adds, edits, moves and removes by id; what it does not name stays', () => {
    const state = after({
      kind: 'tasks.changed',
      changes: [
        { task: 'd', title: 'D' },
        { task: 'b', title: 'B' },
        { task: 'c', order: 0 },
        { task: 'a', removed: true },
        { task: 'nowhere', removed: true },
      ],
    })
    expect(titles(state)).toEqual(['0 c', '1 B', '2 D'])
    expect(state.summary).toEqual({ total: 3, completed: 0, failed: 0 })
  })

  test('SPEC 1.8: a task that is opened again has no result, no reflection and no times', () => {
    for (const open of [
      { kind: 'tasks.changed', changes: [{ task: 'a', status: 'pending' }] },
      { kind: 'tasks', tasks: [task('a')] },
    ] satisfies RunEvent[]) {
      const again = fold(planView, rows([list, settle('a'), open])).tasks.at(0)
      expect(again).toMatchObject({ status: 'pending' })
      for (const gone of ['result', 'reflection', 'startedAt', 'finishedAt']) expect(again).not.toHaveProperty(gone)
    }
  })

  test('SPEC 1.8: a task that was removed while a run worked on it stays removed', () => {
    const begin: RunEvent = { kind: 'task.started', task: 'b' }
    const remove: RunEvent = { kind: 'tasks.changed', changes: [{ task: 'b', removed: true }] }
    const reflected: RunEvent = { kind: 'task.reflected', task: 'b', text: 't' }
    const state = after(execute, begin, remove, settle('b'), reflected, begin)
    expect(titles(state)).toEqual(['0 a', '1 c'])
    expect(state.current).toBeUndefined()
    expect(state.summary).toEqual({ total: 2, completed: 1, failed: 0 })
  })
})

test('a task listed twice is one task, and the later one counts', () => {
  const state = fold(planView, rows([{ kind: 'tasks', tasks: [task('a'), task('a', { title: 'again', order: 1 })] }]))
  expect([...state.tasks].map(({ title }) => title)).toEqual(['again'])
  expect(state.summary.total).toBe(1)
})

describe('calls of a task', () => {
  const call = (id: string | undefined, name = 'f'): AdkPart => ({
    functionCall: { ...(id === undefined ? {} : { id }), name },
  })
  const answer = (id: string | undefined, result: string, name = 'f'): AdkPart => ({
    functionResponse: { ...(id === undefined ? {} : { id }), name, response: { result } },
  })
  const results = (...parts: AdkPart[]) => {
    const state = fold(planView, rows(parts.map((part, i) => said([part], `m${i}`))))
    return [...(state.tasks.at(0)?.calls ?? [])].map(({ response }) => response?.result)
  }
  test('are answered by id, in any order', () => {
    expect(results(call('1'), call('2'), answer('2', 'b'), answer('1', 'a'))).toEqual(['a', 'b'])
  })
  test('without ids, the oldest open one of that name', () => {
    expect(
      results(
        call(undefined),
        call(undefined),
        call(undefined, 'g'),
        answer(undefined, 'a'),
        answer(undefined, 'g', 'g'),
      ),
    ).toEqual(['a', undefined, 'g'])
  })
  test('a long-running call keeps its last answer; an answer to no call is left to the problems view', () => {
    expect(results(call('1'), answer('1', 'pending'), answer('1', 'done'))).toEqual(['done'])
    expect(results(answer('9', 'x'), answer(undefined, 'y'))).toEqual([])
    expect(results(call(undefined), answer(undefined, 'a'), answer(undefined, 'b'))).toEqual(['a'])
  })
})

test('a second text for the same message replaces the first; events without a task change nothing', () => {
  const first = fold(planView, rows([said([{ text: 'one' }]), said([{ text: 'two' }])]))
  expect([...(first.tasks.at(0)?.content ?? [])].map(({ text }) => text)).toEqual(['two'])
  const event: RunEvent = {
    kind: 'agent',
    event: { id: 'x', author: 'a', invocationId: '', timestamp: 0 },
    message: 'x',
  }
  expect(planView.apply(first, row(9, 'r', event))).toBe(first)
  expect(planView.apply(first, row(9, 'r', { kind: 'log', level: 'info', message: '' }))).toBe(first)
})

test('a task that was dropped and planned again under the same id is a new task', () => {
  const list: RunEvent = { kind: 'tasks', tasks: [task('t')] }
  const call: AdkPart = { functionCall: { name: 'f' } }
  const answer: AdkPart = { functionResponse: { name: 'f', response: { result: 'x' } } }
  const before = [list, said([{ text: 'one' }, call], 'm1'), { kind: 'tasks', tasks: [] } as const, list]
  const after = (...events: RunEvent[]) => fold(planView, rows([...before, ...events])).tasks.at(0)
  expect(after()).toMatchObject({ since: 4, content: { length: 0 }, calls: { length: 0 } })
  expect(after(said([{ text: 'two' }], 'm2'), said([{ text: 'three' }], 'm1'))?.content.toArray()).toMatchObject([
    { text: 'two' },
    { text: 'three' },
  ])
  expect(after(said([answer], 'm3'))?.calls.length).toBe(0)
  expect(
    after(said([{ text: 'two' }], 'm2'), { kind: 'superseded', messages: ['m1'], nodes: [] })?.content.at(0),
  ).not.toHaveProperty('superseded')
})

test('an older version of an artifact does not hide a newer one; a deleted one stays, marked', () => {
  const saved = (version: number, facts: object = {}): RunEvent => ({
    kind: 'artifact',
    id: 'a',
    name: 'A',
    type: 'note',
    version,
    ...facts,
  })
  const state = (...events: RunEvent[]) => fold(planView, rows(events)).artifacts.at(0)
  expect(state(saved(2, { part: { text: 'x' } }), saved(1))).toEqual({
    id: 'a',
    name: 'A',
    type: 'note',
    version: 2,
    seq: 1,
    content: 1,
  })
  expect(state(saved(2, { part: { text: 'x' } }), saved(2, { task: 't' }))).toMatchObject({ content: 1, task: 't' })
  expect(state(saved(2, { part: { text: 'x' } }), saved(3))).not.toHaveProperty('content')
  expect(state(saved(2), saved(0, { deleted: true }))).toMatchObject({ deleted: true })
  const announced: RunEvent = {
    kind: 'agent',
    event: { id: 'x', author: 'a', invocationId: '', timestamp: 0, actions: { artifactDelta: { a: 2, b: 1 } } },
    message: 'x',
  }
  expect(state(saved(2), announced)).toMatchObject({ type: 'note', seq: 1 })
  expect(state(saved(1), announced)).toMatchObject({ type: 'note', version: 2, seq: 2 })
})

test('a data item keeps what an announcement does not repeat', () => {
  const state = fold(
    planView,
    rows([
      { kind: 'data', id: 'd', operation: 'create', itemType: 'contact', item: { name: 'Ann' }, task: 't' },
      { kind: 'data', id: 'd', operation: 'update', itemType: 'contact' },
    ]),
  )
  expect([...state.data]).toEqual([{ id: 'd', itemType: 'contact', seq: 2, item: { name: 'Ann' }, task: 't' }])
})

test('SPEC 5.3: a pruned log gives the same plan', () => {
  const onTask = (rows: readonly Recorded[]) =>
    rows.map(
      (row): Recorded =>
        row.event.kind === 'agent' ? { ...row, event: { ...row.event, task: row.event.event.author } } : row,
    )
  fc.assert(
    fc.property(sessions(), (log) => {
      const whole = onTask(log)
      expect(printed(fold(planView, withoutPartials(whole)))).toEqual(printed(fold(planView, whole)))
    }),
    { numRuns: 100 },
  )
})

function said(parts: readonly AdkPart[], message = 'm'): RunEvent {
  const event = { id: message, author: 'a', invocationId: '', timestamp: 0, content: { parts } }
  return { kind: 'agent', event, message, task: 't' }
}

function row(seq: number, run: string, event: RunEvent): Recorded {
  return { seq, at: seq, run, event }
}

function rows(events: readonly RunEvent[]): readonly Recorded[] {
  return events.map((event, i) => row(i + 1, 'r', event))
}

describe('a node that runs again after a crash', () => {
  const node = 'work@1'
  const item = (id: string, value: string, operation: 'create' | 'update' = 'create'): RunEvent => ({
    kind: 'data',
    id,
    operation,
    itemType: 'contact',
    item: value,
    node,
  })
  const before: RunEvent[] = [
    execute,
    { kind: 'tasks', tasks: [task('a'), task('b')] },
    { kind: 'data', id: 'old', operation: 'create', itemType: 'contact', item: 'before' },
    { kind: 'node.started', node, agent: 'work' },
  ]
  const lost: RunEvent[] = [
    { kind: 'task.started', task: 'a', node },
    item('new', 'lost'),
    item('old', 'lost', 'update'),
    { kind: 'artifact', id: 'f', name: 'f', type: 'note', version: 1, node },
    { kind: 'task.finished', task: 'a', status: 'done', result: 'lost', node },
    { kind: 'task.reflected', task: 'a', text: 'lost', node },
  ]
  const superseded: RunEvent = { kind: 'superseded', messages: [], nodes: [node], facts: true }
  const shown = (events: readonly RunEvent[]) => {
    const { data, artifacts, tasks, reflections, summary, current } = fold(planView, rows([...events]))
    return {
      data: data.toArray().map(({ id, item: value }) => [id, value]),
      artifacts: artifacts.toArray().map(({ id }) => id),
      tasks: tasks.toArray().map(({ id, status, result }) => [id, status, result]),
      reflections: reflections.toArray().map(({ text }) => text),
      summary,
      current,
    }
  }

  test('leaves nothing of the lost attempt (SPEC 4.6)', () => {
    expect(shown([...before, ...lost, superseded])).toEqual(shown(before))
  })

  test('has its facts once', () => {
    const { data, reflections } = shown([...before, ...lost, superseded, ...lost])
    expect(data).toEqual([
      ['old', 'lost'],
      ['new', 'lost'],
    ])
    expect(reflections).toEqual(['lost'])
  })

  test('leaves nothing of it either if the node had ended, after the last checkpoint of its engine', () => {
    const done: RunEvent = { kind: 'node.finished', node, status: 'ok' }
    expect(shown([...before, ...lost, done, superseded])).toEqual(shown(before))
  })

  test('keeps the facts of a node that only lost its last message, and of a run that has ended', () => {
    const ended: RunEvent = { kind: 'run.finished', outcome: 'done' }
    expect(shown([...before, ...lost, ended, superseded])).toEqual(shown([...before, ...lost, ended]))
    expect(shown([...before, ...lost, { kind: 'superseded', messages: [], nodes: [node] }])).toEqual(
      shown([...before, ...lost]),
    )
  })

  test('keeps the words and the place that a person gave a task in the meantime', () => {
    const changes = [{ task: 'a', title: 'renamed', description: 'by hand', order: 1 }]
    const log = rows([...before, ...lost, { kind: 'tasks.changed', changes }, superseded])
    const { tasks } = fold(planView, log)
    expect(tasks.toArray()).toMatchObject([
      { id: 'b', order: 0 },
      { id: 'a', title: 'renamed', description: 'by hand', order: 1, status: 'pending' },
    ])
  })

  test('takes back a list of tasks', () => {
    expect(shown([...before, { kind: 'tasks', tasks: [task('z')], node }, superseded])).toEqual(shown(before))
  })

  const change = (...changes: readonly TaskEdit[]): RunEvent => ({ kind: 'tasks.changed', changes, node })
  const byHand = (...changes: readonly TaskEdit[]): RunEvent => ({ kind: 'tasks.changed', changes })
  const titles = (events: readonly RunEvent[]): readonly string[] =>
    fold(planView, rows([...events]))
      .tasks.toArray()
      .map(({ title, status }) => `${title} ${status}`)

  test('takes back tasks that it added, renamed, moved, finished and removed', () => {
    const changes = [
      change({ task: 'c', title: 'C', order: 0 }),
      change({ task: 'a', title: 'lost', order: 2, status: 'done' }),
      change({ task: 'b', removed: true }),
    ]
    expect(shown([...before, ...changes, superseded])).toEqual(shown(before))
    const again = [...before, ...changes, superseded, { kind: 'task.started', task: 'b' } as const]
    expect(titles(again)).toEqual(['a pending', 'b in_progress'])
  })

  test('leaves what a person did in the meantime', () => {
    const lostChange = change({ task: 'c', title: 'C' }, { task: 'a', title: 'lost' }, { task: 'b', removed: true })
    const hand = byHand({ task: 'd', title: 'D', order: 0 }, { task: 'a', status: 'done' })
    expect(titles([...before, lostChange, hand, superseded])).toEqual(['D pending', 'a done', 'b pending'])
    expect(titles([...before, lostChange, byHand({ task: 'c', title: 'mine' }), superseded])).toEqual([
      'a pending',
      'b pending',
      'mine pending',
    ])
    expect(titles([...before, lostChange, byHand({ task: 'c', removed: true }), superseded])).toEqual([
      'a pending',
      'b pending',
    ])
    const moved = byHand({ task: 'a', order: 1 })
    expect(titles([...before, change({ task: 'b', title: 'lost' }), moved, superseded])).toEqual([
      'b pending',
      'a pending',
    ])
    const opened = byHand({ task: 'a', status: 'pending' })
    expect(titles([...before, ...lost, opened, superseded])).toEqual(['a pending', 'b pending'])
  })
})
