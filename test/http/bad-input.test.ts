import {
  type Dialect,
  type DialectName,
  type Draft,
  dialects,
  type Frame,
  fold,
  isObject,
  printFrame,
  problemsAtEnd,
  problemsView,
  type Recorded,
  type StreamProblemCode,
  sseReader,
  type View,
  views,
  whyNotRunEvent,
} from '@millrace/core'
import { encodeAll, recorded, wireText } from '@millrace/core/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadVectors } from '../kit/vectors.ts'

/**
 * What a broken, hostile or newer peer sends, in every dialect and every view (issue 3, "Bad input"): it becomes a
 * `foreign` event or a problem with its seq, and the fold goes on.
 */
const all: readonly Dialect[] = Object.values(dialects)
/** The `millrace` dialect is a case of its own: its frames are rows, and its runs end where the log says so. */
const wires = all.filter(({ name }) => name !== 'millrace')

interface Taken {
  readonly rows: readonly Recorded[]
  readonly codes: readonly StreamProblemCode[]
  readonly foreign: readonly Recorded[]
  /** Runs of which the linter says that they never ended. */
  readonly open: readonly string[]
}

/** Decodes, folds every view, prints every view, prints the rows in every dialect: nothing of it may throw. */
function take(dialect: Dialect, frames: readonly Frame[], how: 'closed' | 'cut' = 'closed', printing = all): Taken {
  const decoder = dialect.decoder({ run: 'run-1', agent: 'a' })
  const drafts: Draft[] = []
  for (const frame of frames) for (const draft of decoder.push(frame)) drafts.push(draft)
  for (const draft of decoder.end(how)) drafts.push(draft)
  const refused = drafts.map(({ event }) => whyNotRunEvent(event)).filter((why) => why !== undefined)
  expect(refused).toEqual([])
  const rows = recorded(drafts)
  for (const view of Object.values<View<unknown>>(views)) JSON.stringify(fold(view, rows))
  const printed = printing.flatMap((other) => encodeAll(other, rows).map(printFrame))
  expect(printed.filter((text) => !text.endsWith('\n\n'))).toEqual([])
  const folded = fold(problemsView, rows)
  const found = problemsAtEnd(folded).problems.toArray()
  const seqs = new Set(rows.map(({ seq }) => seq))
  expect(found.filter(({ seq }) => !seqs.has(seq))).toEqual([])
  return {
    rows,
    codes: found.map(({ code }) => code),
    foreign: rows.filter(({ event }) => event.kind === 'foreign'),
    open: found.slice(folded.problems.length).map(({ run }) => run),
  }
}

/** Every run has one end: the wire's, or the decoder's where the wire broke off. If not, a problem says so. */
function expectEnds({ rows, open, codes }: Taken): void {
  const ends = new Map<string, number>()
  for (const { run, event } of rows) {
    if (event.kind === 'run.started') ends.set(run, ends.get(run) ?? 0)
    if (event.kind === 'run.finished') ends.set(run, (ends.get(run) ?? 0) + 1)
  }
  const reported = codes.some((code) => code === 'second-end' || code === 'run-repeated')
  for (const [run, count] of ends) if (!reported) expect([run, count]).toEqual([run, open.includes(run) ? 0 : 1])
}

function carriedBy({ name }: Dialect, data: unknown): readonly Frame[] {
  return carrying[name as DialectName](data)
}

/** A frame of this dialect with a payload in the place where a user's own data goes. */
const carrying: Readonly<Record<DialectName, (data: unknown) => readonly Frame[]>> = {
  adk: (data) => [
    json(adkEvent({ content: { parts: [{ functionCall: { id: 'c', name: 'f', args: { data } } }] } })),
    json(
      adkEvent({ id: 'e2', content: { parts: [{ functionResponse: { id: 'c', name: 'f', response: { data } } }] } }),
    ),
    json(adkEvent({ id: 'e3', actions: { stateDelta: { data } } })),
  ],
  'ag-ui': (data) =>
    [
      { type: 'RUN_STARTED', threadId: 't', runId: 'run-1' },
      { type: 'STATE_SNAPSHOT', snapshot: { data } },
      { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/more', value: data }] },
      { type: 'CUSTOM', name: 'x', value: data },
      { type: 'RUN_FINISHED', threadId: 't', runId: 'run-1' },
    ].map(json),
  studio: (data) => [
    trace({
      type: 'node_start',
      node: 'n',
      step: 1,
      state_snapshot: { input: { data }, output: {} },
      state_keys: ['data'],
    }),
    { event: 'tool_call', data: JSON.stringify({ name: 'f', args: { data } }) },
    { event: 'tool_result', data: JSON.stringify({ name: 'f', result: data }) },
    { event: 'end', data: '' },
  ],
  plan: (data) => [
    named({ type: 'task_selected', taskId: 't' }),
    named({ type: 'tool_call', taskId: 't', tool: 'f', input: { data } }),
    named({ type: 'tool_result', taskId: 't', tool: 'f', output: data }),
    named({ type: 'done', summary: { total: 1, completed: 1, failed: 0 } }),
  ],
  millrace: (data) => [row(1, { kind: 'state', patch: [{ op: 'add', path: '/data', value: data }] })],
}

describe.each(all)('$name', (dialect) => {
  const vectors = dialect.name === 'millrace' ? [] : loadVectors(dialect.name).filter(({ wire }) => wire.length < 40)

  test('cut off after any frame, a run that was open has failed, and the linter says that it has no end', () => {
    for (const vector of vectors) {
      for (let at = 0; at <= vector.wire.length; at += Math.max(1, Math.floor(vector.wire.length / 4))) {
        const taken = take(dialect, vector.wire.slice(0, at), 'cut')
        expectEnds(taken)
        expect(taken.open).toEqual([])
        const { rows, codes } = taken
        const last = rows.at(-1)?.event
        if (last?.kind === 'run.finished' && last.error?.code === 'cut') expect(codes).toContain('no-end')
      }
    }
  })

  test('cut off inside a frame, the reader knows', () => {
    for (const vector of vectors.slice(0, 10)) {
      const text = wireText(vector.wire)
      for (let at = 1; at < text.length; at += Math.max(1, Math.floor(text.length / 12))) {
        const reader = sseReader()
        const frames = reader.feed(text.slice(0, at))
        expectEnds(take(dialect, frames, reader.open ? 'cut' : 'closed'))
      }
    }
  })

  test('half of the JSON of any frame is kept as it came, and is a problem', () => {
    for (const { wire } of vectors) {
      for (const [at, frame] of wire.entries()) {
        if (at % Math.ceil(wire.length / 2) !== 0 || !isJson(frame.data) || isText(dialect, frame)) continue
        const half = { ...frame, data: frame.data.slice(0, Math.ceil(frame.data.length / 2)) }
        const { foreign, codes } = take(dialect, wire.with(at, half))
        expect(foreign.some(({ event }) => event.kind === 'foreign' && event.raw === rawOf(dialect, half))).toBe(true)
        expect(codes.some((code) => code === 'unread' || code === 'after-end')).toBe(true)
      }
    }
  })

  test.each(['{', '[1,', 'nul', '\u0000', '\ud800', '{"a":}', '{"type":"x"', "{'type':'RUN_STARTED'}", '<html>'])(
    'text that is not JSON: %j',
    (data) => {
      const { foreign, codes } = take(dialect, [{ data }])
      expect(foreign.map(({ event }) => event)).toMatchObject([
        { dialect: dialect.name, raw: rawOf(dialect, { data }) },
      ])
      expect(codes).toContain('unread')
    },
  )

  test.each(['null', '7', '"text"', 'true', '[]', '[{}]', '{}'])('JSON that is no event: %s', (data) => {
    const { foreign } = take(dialect, [{ data }])
    expect(foreign).toHaveLength(1)
  })

  test('events of an unknown kind', () => {
    const unknown = [json({ type: 'DANCE', kind: 'dance' }), { event: 'dance', data: '{"type":"dance"}' }]
    const { foreign, codes } = take(dialect, unknown)
    expect(foreign).toHaveLength(2)
    expect(codes.filter((code) => code === 'unread')).toHaveLength(2)
  })

  test('any field of any frame with a value of another type', () => {
    const frames = [
      ...vectors.flatMap(({ wire }) => wire).filter(({ data }) => isJson(data)),
      ...carriedBy(dialect, 1).filter(({ data }) => isJson(data)),
    ]
    const wrong = fc.constantFrom<unknown[]>(null, 7, -1, 1e300, '', 'x', true, [], [null], {}, { a: { a: {} } }, [[]])
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), fc.nat(), wrong), { minLength: 1, maxLength: 8 }), (changes) => {
        const spoiled = changes.flatMap(([which, field, value]) => {
          const frame = frames[which % frames.length]
          return frame === undefined ? [] : [frame, { ...frame, data: withField(frame.data, field, value) }]
        })
        expectEndsOf(dialect, take(dialect, spoiled))
      }),
      { numRuns: 60 },
    )
  })

  test('the beginning of a frame that was too long is kept, and never taken for the whole', () => {
    for (const { event, data } of carriedBy(dialect, 1)) {
      const { foreign } = take(dialect, [{ ...(event === undefined ? {} : { event }), data, truncated: true }])
      expect(foreign.map(({ event }) => event)).toMatchObject([{ reason: expect.stringMatching(/long/) }])
    }
  })

  test('every frame twice', () => {
    for (const { wire } of vectors) {
      const twice = wire.flatMap((frame) => [frame, frame])
      expectEnds(take(dialect, twice))
    }
  })

  test('frames in any order, of several streams at once', () => {
    const frames = [...vectors.flatMap(({ wire }) => wire), ...carriedBy(dialect, 1)]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...frames), { maxLength: 30 }), (shuffled) => {
        expectEndsOf(dialect, take(dialect, shuffled))
      }),
      { numRuns: 60 },
    )
  })

  test.each([
    ['arrays', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['objects', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ])('%s nested 20,000 deep, alone and inside an event', (_, deep) => {
    expect(take(dialect, [{ data: deep }]).foreign).toHaveLength(1)
    const inside = carriedBy(dialect, '@').map((frame) => ({ ...frame, data: frame.data.replace('"@"', deep) }))
    const { foreign, rows } = take(dialect, inside)
    expect(foreign.length).toBeGreaterThan(0)
    for (const { event } of rows) expect(JSON.stringify(event).length).toBeGreaterThan(0)
  })

  test('a string of 10 MB, alone and inside an event', () => {
    const long = 'x'.repeat(10 * 1024 * 1024)
    expect(take(dialect, [{ data: long }], 'closed', [dialect]).rows.length).toBeGreaterThan(0)
    const { foreign, rows } = take(dialect, carriedBy(dialect, long), 'closed', [dialect])
    expect(foreign).toEqual([])
    expect(rows.some(({ event }) => JSON.stringify(event).length > long.length)).toBe(true)
  })

  test('keys that look like a prototype are data, and stay where they are', () => {
    const hostile = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    const frames = carriedBy(dialect, '@').map((frame) => ({
      ...frame,
      data: frame.data.replaceAll('"@"', hostile),
    }))
    const { foreign, rows } = take(dialect, frames)
    expect(foreign).toEqual([])
    expect(JSON.stringify(rows)).toContain('"__proto__":{"polluted":1}')
    take(dialect, [{ data: hostile }])
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
    for (const view of Object.values<View<unknown>>(views))
      expect(Reflect.get(Object(fold(view, rows)), 'polluted')).toBeUndefined()
  })

  test('5,000 unreadable frames: all are kept in the log, and what the linter holds of them is bounded', () => {
    const frames = Array.from({ length: 5000 }, (_, i) => ({ data: `{"half":${i}` }))
    const decoder = dialect.decoder({ run: 'run-1' })
    const rows = recorded(frames.flatMap((frame) => decoder.push(frame)))
    const state = fold(problemsView, rows)
    expect(rows.filter(({ event }) => event.kind === 'foreign')).toHaveLength(5000)
    expect(state.counts.unread).toBe(5000)
    expect(JSON.stringify(state).length).toBeLessThan(50_000)
  })
})

describe('JSON inside the strings of an AG-UI frame', () => {
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
  const called = { id: 'c', type: 'function', function: { name: 'f', arguments: deep } }
  const messages = [
    { id: 'm1', role: 'assistant', toolCalls: [called] },
    { id: 'm2', role: 'tool', toolCallId: 'c', content: deep },
  ]
  test.each<[string, readonly object[]]>([
    [
      'arguments',
      [
        { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f' },
        { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: deep },
        { type: 'TOOL_CALL_END', toolCallId: 'c' },
      ],
    ],
    ['a result', [{ type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c', content: deep }]],
    ['a snapshot', [{ type: 'MESSAGES_SNAPSHOT', messages }]],
    [
      'an echo',
      [{ type: 'RUN_STARTED', threadId: 't', runId: 'run-1', input: { threadId: 't', runId: 'run-1', messages } }],
    ],
  ])('%s nested 20,000 deep stays text, and every dialect can print it', (_, events) => {
    const all = [{ type: 'RUN_STARTED', threadId: 't', runId: 'run-1' }, ...events]
    const frames = [...(events.some((event) => 'input' in event) ? events : all).map(json)]
    const { rows, foreign } = take(dialects['ag-ui'], frames)
    expect(foreign).toEqual([])
    for (const { event } of rows) expect(JSON.stringify(event)).toContain('kind')
    expect(JSON.stringify(rows)).toContain('[[[[[[')
  })
})

test('what is as deep as a frame may be is deep in a row too, and can still be read back', () => {
  for (let levels = 500; levels <= 512; levels++) {
    const data: unknown = JSON.parse('['.repeat(levels) + ']'.repeat(levels))
    const { rows } = take(dialects.adk, carrying.adk(data))
    const wire = encodeAll(dialects.millrace, rows)
    const decoder = dialects.millrace.decoder({ run: 'r' })
    expect(wire.flatMap((frame) => decoder.push(frame))).toEqual(rows)
  }
})

describe('what the linter says of it', () => {
  const started = json({ type: 'RUN_STARTED', threadId: 't', runId: 'run-1' })
  const finished = json({ type: 'RUN_FINISHED', threadId: 't', runId: 'run-1' })
  test.each<[name: string, dialect: DialectName, frames: Frame[], code: StreamProblemCode, seq: number]>([
    [
      'a result without a call',
      'adk',
      [json(adkEvent({ content: { parts: [{ functionResponse: { id: 'c', name: 'f', response: {} } }] } }))],
      'result-without-call',
      2,
    ],
    [
      'a result without a call',
      'ag-ui',
      [started, json({ type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c', content: 'x' }), finished],
      'result-without-call',
      2,
    ],
    [
      'a result without a call',
      'studio',
      [
        { event: 'tool_result', data: '{"name":"f","result":"x"}' },
        { event: 'end', data: '' },
      ],
      'result-without-call',
      2,
    ],
    [
      'a result without a call',
      'plan',
      [named({ type: 'tool_result', taskId: 't', tool: 'f', output: 'x' }), named({ type: 'done' })],
      'result-without-call',
      2,
    ],
    [
      'a delta for an unknown message',
      'ag-ui',
      [started, json({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' }), finished],
      'unread',
      2,
    ],
    [
      'a patch that does not apply',
      'ag-ui',
      [started, json({ type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/none' }] }), finished],
      'lost-patch',
      2,
    ],
    [
      'a patch that does not apply',
      'millrace',
      [
        row(1, { kind: 'run.started', agent: 'a', input: { messages: [] } }),
        row(2, { kind: 'state', patch: [{ op: 'remove', path: '/none' }] }),
        row(3, { kind: 'run.finished', outcome: 'done' }),
      ],
      'lost-patch',
      2,
    ],
    [
      'the same event twice',
      'adk',
      [
        json(adkEvent({ content: { parts: [{ text: 'a' }] } })),
        json(adkEvent({ content: { parts: [{ text: 'a' }] } })),
      ],
      'event-repeated',
      3,
    ],
    [
      'a run that has no end',
      'millrace',
      [row(1, { kind: 'run.started', agent: 'a', input: { messages: [] } })],
      'no-end',
      1,
    ],
  ])('%s (%s)', (_, name, frames, code, seq) => {
    const { rows } = take(dialects[name], frames)
    const found = problemsAtEnd(fold(problemsView, rows)).problems.toArray()
    expect(found.map((problem) => [problem.code, problem.seq])).toEqual([[code, seq]])
  })
})

test('the dialects that are tested with bad input', () =>
  expect(wires.map(({ name }) => name)).toEqual(['ag-ui', 'plan', 'studio', 'adk']))

function expectEndsOf(dialect: Dialect, taken: Taken): void {
  if (dialect.name !== 'millrace') expectEnds(taken)
}

function json(value: unknown): Frame {
  return { data: JSON.stringify(value) }
}

function trace(value: unknown): Frame {
  return { event: 'trace', data: JSON.stringify(value) }
}

function named(value: { readonly type: string } & Record<string, unknown>): Frame {
  return { event: value.type, data: JSON.stringify(value) }
}

function adkEvent(fields: object): object {
  return { id: 'e1', author: 'a', invocationId: 'i', timestamp: 1767081391.059711, ...fields }
}

function row(seq: number, event: object): Frame {
  return json({ seq, at: seq, run: 'run-1', event })
}

/** Some of Studio's frames are bare text: half of it is still text. */
function isText(dialect: Dialect, { event }: Frame): boolean {
  return dialect.name === 'studio' && event !== undefined && ['chunk', 'thinking', 'error', 'session'].includes(event)
}

/** As the dialect keeps what it cannot read: where the name of a frame carries meaning, with the name. */
function rawOf(dialect: Dialect, frame: Frame): string {
  return dialect.name === 'studio' || dialect.name === 'plan' ? printFrame(frame).slice(0, -2) : frame.data
}

function isJson(text: string): boolean {
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

/** One field, at any depth, replaced. */
function withField(text: string, which: number, value: unknown): string {
  const document: unknown = JSON.parse(text)
  const places: [object, string][] = []
  const walk = (at: unknown): void => {
    if (!isObject(at) && !Array.isArray(at)) return
    for (const [key, child] of Object.entries(at)) {
      places.push([at, key])
      walk(child)
    }
  }
  walk(document)
  const [parent, key] = places[which % Math.max(1, places.length)] ?? []
  if (parent !== undefined && key !== undefined) Reflect.set(parent, key, value)
  return JSON.stringify(document)
}
