import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadVectors } from '../../../../test/kit/vectors.ts'
import { isRecorded, isRunEvent, parseRecorded, whyNotRecorded, whyNotRunEvent } from './guard.ts'
import type { RunEvent, RunEventKind } from './run-event.ts'

const event = { id: 'e', author: 'a', invocationId: 'i', timestamp: 1 }

/** At least one of every kind, with every optional field somewhere; the type makes a missing kind an error. */
const samples: Readonly<Record<RunEventKind, readonly RunEvent[]>> = {
  'run.started': [
    { kind: 'run.started', agent: 'a', input: { messages: [] } },
    {
      kind: 'run.started',
      agent: 'a',
      parent: 'r0',
      forkOf: { session: 's', seq: 3 },
      input: {
        messages: [{ id: 'm', role: 'user', content: { role: 'user', parts: [{ text: 'hi' }] }, name: 'Ada' }],
        state: { a: null },
        tools: [{ name: 't', description: 'd', parameters: { type: 'object' } }],
        context: [{ description: 'd', value: 'v' }],
        resume: [{ interrupt: 'i', status: 'resolved', payload: null }],
        props: { x: [1] },
      },
      extra: { 'ag-ui': { x: 1 } },
    },
  ],
  'node.started': [{ kind: 'node.started', node: 'a@1', agent: 'a', parent: 'b@1', after: ['c@1'], call: 'adk-1' }],
  agent: [
    { kind: 'agent', event, message: 'm' },
    { kind: 'agent', event: { ...event, output: [1], newField: null }, message: 'm', node: 'a@1', task: 't' },
    { kind: 'agent', event, message: 'm', model: false },
  ],
  state: [
    {
      kind: 'state',
      node: 'a@1',
      patch: [
        { op: 'add', path: '/a', value: null },
        { op: 'remove', path: '/b' },
        { op: 'move', path: '/c', from: '/d' },
      ],
    },
  ],
  'node.finished': [
    { kind: 'node.finished', node: 'a@1', status: 'error', error: { code: 'agent-error', message: 'm' }, duration: 5 },
  ],
  'model.started': [
    { kind: 'model.started', call: 'c1', agent: 'a', model: 'm', tools: 0 },
    { kind: 'model.started', call: 'c1', agent: 'a', waited: 12 },
    {
      kind: 'model.started',
      call: 'c2',
      agent: 'a',
      model: 'm',
      tools: 1,
      node: 'a@1',
      parameters: { temperature: 0 },
      request: {
        like: 'r/c1',
        keep: 2,
        contents: ['@m', '#h', { role: 'user', parts: [] }],
        system: '#s',
        tools: '#t',
        values: { h: null },
        omitted: 'why',
      },
    },
  ],
  'model.finished': [
    { kind: 'model.finished', call: 'c1', status: 'ok' },
    { kind: 'model.finished', call: 'c1', status: 'ok', model: 'm' },
    {
      kind: 'model.finished',
      call: 'c2',
      status: 'error',
      node: 'a@1',
      firstToken: 3,
      duration: 5,
      finishReason: 'STOP',
      usage: { inputTokens: 1, modelCalls: 1 },
      cost: { amount: 0.1, currency: 'USD' },
      messages: ['m'],
      response: null,
      error: { code: 'model-error', message: 'm' },
    },
  ],
  'tool.finished': [
    { kind: 'tool.finished', call: 'adk-1', name: 't', status: 'ok', duration: 0 },
    { kind: 'tool.finished', call: 'adk-2', name: 't', status: 'error', duration: 2, node: 'a@1' },
  ],
  feedback: [
    { kind: 'feedback', about: { run: 'r' } },
    {
      kind: 'feedback',
      about: { run: 'r', message: 'm', call: 'c', node: 'a@1' },
      rating: 'down',
      note: 'wrong',
      by: 'ann',
    },
  ],
  tasks: [
    {
      kind: 'tasks',
      tasks: [{ id: '1', title: 't', status: 'in_progress', order: 1, description: 'd', createdAt: 'now' }],
    },
  ],
  'tasks.changed': [
    {
      kind: 'tasks.changed',
      changes: [
        { task: '1', title: 't', description: 'd', status: 'pending', order: 0, createdAt: 'now' },
        { task: '2', removed: true },
      ],
    },
  ],
  'task.started': [{ kind: 'task.started', task: '1' }],
  'task.finished': [{ kind: 'task.finished', task: '1', status: 'done', result: 'r' }],
  'task.reflected': [{ kind: 'task.reflected', task: '1', text: 't' }],
  artifact: [
    {
      kind: 'artifact',
      id: '1',
      name: 'n',
      type: 'note',
      version: 1,
      part: { text: 'x' },
      task: 't',
      node: 'n',
      deleted: true,
    },
  ],
  data: [{ kind: 'data', id: '1', operation: 'create', itemType: 'flight', item: null, task: 't' }],
  interrupt: [
    {
      kind: 'interrupt',
      id: '1',
      reason: 'confirmation',
      message: 'm',
      call: 'c',
      schema: {},
      payload: null,
      expiresAt: 'x',
      node: 'n',
    },
  ],
  resumed: [{ kind: 'resumed', interrupt: '1', status: 'cancelled', payload: [1] }],
  superseded: [{ kind: 'superseded', messages: ['m'], nodes: ['n'] }],
  changed: [
    { kind: 'changed', field: 'message', by: 'ada', of: { session: 's', run: 'r', seq: 1 }, before: 'a', after: 'b' },
    {
      kind: 'changed',
      field: 'tool',
      by: 'ada',
      of: { session: 's', run: 'r', seq: 4 },
      agent: 'a',
      node: 'a@1',
      call: 'adk-1',
      name: 't',
      before: {},
      after: { size: 3 },
    },
  ],
  log: [{ kind: 'log', level: 'warn', message: 'm', node: 'n', data: { a: null } }],
  foreign: [{ kind: 'foreign', dialect: 'adk', raw: '{', reason: 'not JSON' }],
  'run.finished': [
    { kind: 'run.finished', outcome: 'done' },
    {
      kind: 'run.finished',
      outcome: 'failed',
      error: { code: 'timeout', message: 'm', source: 's' },
      usage: { totalTokens: 1 },
      result: null,
    },
  ],
}
const all = Object.values(samples).flat()

describe('SPEC 1.6: what may enter the log', () => {
  test.each(all)('$kind', (sample) => {
    expect(whyNotRunEvent(sample)).toBeUndefined()
    expect(isRunEvent(sample)).toBe(true)
    expect(parseRecorded(JSON.stringify({ seq: 1, at: 2, run: 'r', event: sample }))).toEqual({
      recorded: { seq: 1, at: 2, run: 'r', event: sample },
    })
  })
  test('every event of every vector', () => {
    const drafts = loadVectors('adk').flatMap((vector) => vector.drafts)
    expect(drafts.length).toBeGreaterThan(100)
    for (const draft of drafts) expect(whyNotRunEvent(draft.event)).toBeUndefined()
  })
})

describe('what may not, and where it is wrong', () => {
  test.each<[unknown, string]>([
    [null, 'must be an object'],
    [[], 'must be an object'],
    ['run.started', 'must be an object'],
    [{}, 'kind is not a kind of event'],
    [{ kind: 'model.started', call: 'c', model: 'm' }, 'agent is missing'],
    [{ kind: 'model.started', call: 'c', agent: 'a', waited: 'long' }, 'waited must be a finite number'],
    [{ kind: 'model.finished', call: 'c', status: 'ok', model: 1 }, 'model must be a string'],
    [
      { kind: 'model.started', call: 'c', agent: 'a', model: 'm', tools: 0, request: { contents: [1n] } },
      'request.contents[0] is a bigint, not JSON',
    ],
    [{ kind: 'model.finished', call: 'c', status: 'done' }, 'status must be one of ok, error'],
    [{ kind: 'model.finished', call: 'c', status: 'ok', cost: { amount: 1 } }, 'cost.currency is missing'],
    [{ kind: 'tool.finished', call: 'c', name: 't', status: 'ok' }, 'duration is missing'],
    [{ kind: 'feedback', about: {} }, 'about.run is missing'],
    [{ kind: 'feedback', about: { run: 'r' }, rating: 5 }, 'rating must be one of up, down'],
    [
      { kind: 'changed', field: 'agent', by: 'ada', of: { session: 's', run: 'r', seq: 1 }, after: 1 },
      'field must be one of message, state, tool, prompt',
    ],
    [{ kind: 'changed', field: 'state', by: 'ada', of: { session: 's', run: 'r', seq: 1 } }, 'after is missing'],
    [{ kind: 'toString' }, 'kind is not a kind of event'],
    [{ kind: 'run.finished' }, 'outcome is missing'],
    [{ kind: 'run.finished', outcome: 'ok' }, 'outcome must be one of done, failed, cancelled, interrupted'],
    [
      { kind: 'run.finished', outcome: 'failed', error: { code: 'oops', message: '' } },
      expect.stringMatching(/^error\.code must be one of agent-error, /),
    ],
    [
      { kind: 'run.started', agent: 'a', input: { messages: [{ id: 'm', role: 'user' }] } },
      'input.messages[0].content is missing',
    ],
    [{ kind: 'agent', message: 'm', event: { ...event, id: undefined } }, 'event.id is missing'],
    [
      { kind: 'agent', message: 'm', event: { ...event, timestamp: Number.NaN } },
      'event.timestamp must be a finite number',
    ],
    [
      { kind: 'agent', message: 'm', event: { ...event, content: null } },
      'event.content is null: leave the field out instead',
    ],
    [
      { kind: 'agent', message: 'm', event: { ...event, content: { parts: [{}, { text: 1 }] } } },
      'event.content.parts[1].text must be a string',
    ],
    [
      { kind: 'agent', message: 'm', event: { ...event, content: { parts: [{ functionCall: {} }] } } },
      'event.content.parts[0].functionCall.name is missing',
    ],
    [{ kind: 'agent', message: 'm', event: { ...event, errorCode: 429 } }, 'event.errorCode must be a string'],
    [
      { kind: 'agent', message: 'm', event: { ...event, customMetadata: { a: [1, () => 1] } } },
      'event.customMetadata.a[1] is a function, not JSON',
    ],
    [{ kind: 'agent', message: 'm', event: { ...event, output: 1n } }, 'event.output is a bigint, not JSON'],
    [
      { kind: 'agent', message: 'm', event: { ...event, extra: { a: Symbol('x') } } },
      'event.extra.a is a symbol, not JSON',
    ],
    [
      { kind: 'agent', message: 'm', event: { ...event, actions: { stateDelta: { n: Number.POSITIVE_INFINITY } } } },
      'event.actions.stateDelta.n is not a finite number',
    ],
    [{ kind: 'state', patch: [{ op: 'add', path: '/a' }] }, 'patch[0].value is missing'],
    [{ kind: 'state', patch: [{ op: 'copy', path: '/a' }] }, 'patch[0].from is missing'],
    [
      { kind: 'state', patch: [{ op: 'swap', path: '/a' }] },
      'patch[0].op must be one of add, replace, test, remove, move, copy',
    ],
    [{ kind: 'state', patch: [7] }, 'patch[0] must be an object'],
    [{ kind: 'state', patch: {} }, 'patch must be a list'],
  ])('%#: %s', (value, reason) => {
    expect(whyNotRunEvent(value)).toEqual(reason)
    expect(isRunEvent(value)).toBe(false)
  })
  test.each<[unknown, string]>([
    [7, 'must be an object'],
    [{ at: 1, run: 'r', event: all[0] }, 'seq is missing'],
    [{ seq: 0, at: 1, run: 'r', event: all[0] }, 'seq must be a whole number above 0'],
    [{ seq: 1.5, at: 1, run: 'r', event: all[0] }, 'seq must be a whole number above 0'],
    [{ seq: 1, at: 'now', run: 'r', event: all[0] }, 'at must be a finite number'],
    [{ seq: 1, at: 1, run: 'r', event: { kind: 'log' } }, 'event.level is missing'],
  ])('recorded %#: %s', (value, reason) => {
    expect(whyNotRecorded(value)).toBe(reason)
    expect(isRecorded(value)).toBe(false)
    expect(parseRecorded(JSON.stringify(value))).toEqual({ reason })
  })
  test('a value that is too deep or circular', () => {
    const deep = JSON.parse(`${'['.repeat(2000)}${']'.repeat(2000)}`)
    expect(whyNotRunEvent({ kind: 'log', level: 'info', message: 'm', data: deep })).toMatch(
      /^data(\[0\])+ is nested deeper than 512/,
    )
    const circle: Record<string, unknown> = {}
    circle.self = circle
    expect(whyNotRunEvent({ kind: 'data', id: '1', operation: 'create', itemType: 't', item: circle })).toMatch(
      /^item(\.self)+ is nested deeper than 512, or in a circle$/,
    )
  })
  test('a value that throws when it is read', () => {
    const trap = {
      kind: 'log',
      level: 'info',
      message: 'm',
      data: Object.defineProperty({}, 'x', { enumerable: true, get: () => JSON.parse('{') }),
    }
    expect(whyNotRunEvent(trap)).toBe('it throws when it is read')
    expect(isRunEvent(trap)).toBe(false)
  })
  test('a line that is not JSON', () => {
    expect(parseRecorded('{"seq":1,')).toEqual({ reason: 'not JSON' })
  })
})

test('an event with one field replaced is refused or still JSON', () => {
  const spoiled = fc.constantFrom(1n, () => 0, Symbol('s'), Number.NaN)
  fc.assert(
    fc.property(fc.constantFrom(...all), fc.nat(), spoiled, (sample, at, bad) => {
      const paths = pathsOf(sample)
      const path = paths[at % paths.length] ?? []
      const copy = structuredClone(sample)
      set(copy, path, bad)
      expect(isRunEvent(copy)).toBe(false)
    }),
    { numRuns: 1000 },
  )
})

test('no value makes the guard throw', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      expect(isRunEvent(value)).toBe(whyNotRunEvent(value) === undefined)
    }),
  )
})

function pathsOf(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return [[]]
  return Object.entries(value).flatMap(([key, child]) => [[key], ...pathsOf(child).map((path) => [key, ...path])])
}

function set(root: unknown, path: readonly string[], value: unknown): void {
  let parent: unknown = root
  for (const key of path.slice(0, -1)) parent = Reflect.get(Object(parent), key)
  Reflect.set(Object(parent), path.at(-1) ?? '', value)
}
