import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chaos, sessions } from '../../../../test/arbitrary-events.ts'
import { describeDialect, encodeAll, recorded } from '../../../../test/dialect-contract.ts'
import type { Json, JsonObject } from '../event/json.ts'
import type { Draft, Recorded, RunEvent } from '../event/run-event.ts'
import { applyState } from '../event/state-fold.ts'
import type { Frame } from '../frame/frame.ts'
import { printFrame, sseReader } from '../frame/sse.ts'
import { studio } from './studio.ts'

/** Seed 000, Example Full Event Stream, as it stands there. */
const seedStream = `event: session
data: abc123

event: trace
data: {"type":"node_start","node":"researcher","step":1,"state_snapshot":{"input":{"query":"test"},"output":{}},"state_keys":["query"]}

event: log
data: {"message":"Calling gemini-2.5-flash (tools: 2)"}

event: tool_call
data: {"name":"search","args":{"query":"test"}}

event: tool_result
data: {"name":"search","result":"..."}

event: chunk
data: Based on my research...

event: trace
data: {"type":"node_end","node":"researcher","step":1,"duration_ms":1500,"state_snapshot":{"input":{"query":"test"},"output":{"query":"test","results":"..."}},"state_keys":["query","results"]}

event: trace
data: {"type":"done","total_steps":1,"state_snapshot":{"input":{"query":"test"},"output":{"query":"test","results":"...","response":"..."}},"state_keys":["query","results","response"]}

event: end
data: 

`

const decode = (frames: readonly Frame[], how: 'closed' | 'cut' = 'closed'): readonly Draft[] => {
  const decoder = studio.decoder({ run: 'r' })
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end(how)]
}
const events = (frames: readonly Frame[]): readonly RunEvent[] => decode(frames).map(({ event }) => event)
const rows = (list: readonly RunEvent[]): readonly Recorded[] => recorded(list.map((event) => ({ run: 'r', event })))
const chunk = (data: string): Frame => ({ event: 'chunk', data })
const begun: RunEvent = { kind: 'run.started', agent: 'lead', input: { messages: [] } }
const ended: RunEvent = { kind: 'run.finished', outcome: 'done' }

function said(
  author: string,
  text: string,
  more: { partial?: boolean; message?: string; branch?: string } = {},
): RunEvent {
  const { message = `${author}-1`, ...event } = more
  const content = { role: 'model', parts: [{ text }] }
  return { kind: 'agent', event: { id: message, author, invocationId: 'i', timestamp: 1, content, ...event }, message }
}

/** What a reader that appends chunks shows; `agent` starts a line of its own. */
const shown = (frames: readonly Frame[]): string =>
  frames.map(({ event, data }) => (event === 'chunk' ? data : event === 'agent' ? `\n${data}: ` : '')).join('')
const traces = (frames: readonly Frame[]): JsonObject[] =>
  frames.filter(({ event }) => event === 'trace').map(({ data }) => JSON.parse(data))
const textOf = (list: readonly RunEvent[]): string =>
  list
    .flatMap((event) =>
      event.kind === 'agent' && event.event.partial !== true ? (event.event.content?.parts ?? []) : [],
    )
    .map((part) => (part.thought === true ? '' : (part.text ?? '')))
    .join('')

describe('studio', () => describeDialect(studio))

describe('seed 000', () => {
  test('Example Full Event Stream comes out to the byte', () => {
    const decoder = studio.decoder({ run: 'r' })
    const drafts = sseReader()
      .feed(seedStream)
      .flatMap((frame) => decoder.push(frame))
    expect(decoder.session).toBe('abc123')
    expect(encodeAll(studio, recorded(drafts), 'abc123').map(printFrame).join('')).toBe(seedStream)
  })

  test('State Snapshot Capture Rules 3 and 4: keys of the output, never more than three levels', () => {
    const json = fc.jsonValue({ maxDepth: 6 }) as fc.Arbitrary<Json>
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), (state) => {
        const frames = encodeAll(
          studio,
          rows([begun, { kind: 'state', patch: [{ op: 'add', path: '', value: state }] }, said('a', 'x'), ended]),
        )
        for (const trace of traces(frames)) {
          const { input, output } = trace.state_snapshot as { input: JsonObject; output: JsonObject }
          expect(Math.max(depthOf(input), depthOf(output))).toBeLessThanOrEqual(3)
          if (trace.type !== 'node_start') expect(trace.state_keys).toEqual(Object.keys(output))
        }
      }),
    )
  })

  test('a reader of its own log keeps what was cut', () => {
    const deep: JsonObject = { a: { b: { c: { d: [1] } } }, n: 1 }
    const log = rows([
      begun,
      { kind: 'state', patch: [{ op: 'add', path: '', value: deep }] },
      { kind: 'node.started', node: 'a@1', agent: 'a' },
      { kind: 'state', patch: [{ op: 'replace', path: '/n', value: 2 }], node: 'a@1' },
      { kind: 'node.finished', node: 'a@1', status: 'ok' },
      ended,
    ])
    const [session, ...rest] = encodeAll(studio, log)
    const whole = { type: 'state', state_snapshot: { input: {}, output: deep }, state_keys: ['a', 'n'] }
    const state = foldState(events([session!, { event: 'trace', data: JSON.stringify(whole) }, ...rest]))
    expect(state).toEqual({ ...deep, n: 2 })
  })
})

describe('any log to the seed', () => {
  test('agents that stream side by side take turns', () => {
    const frames = encodeAll(
      studio,
      rows([
        begun,
        said('a', 'one ', { partial: true, branch: 'team.a' }),
        said('b', 'ONE ', { partial: true, branch: 'team.b' }),
        said('a', 'two', { partial: true, branch: 'team.a' }),
        said('b', 'TWO', { partial: true, branch: 'team.b' }),
        said('a', 'one two', { branch: 'team.a' }),
        said('b', 'ONE TWO three', { branch: 'team.b' }),
        ended,
      ]),
    )
    expect(shown(frames)).toBe('one \na: two\nb: ONE TWO three')
  })

  test('a log without nodes gets one for each agent that speaks, branch by branch', () => {
    const frames = encodeAll(
      studio,
      rows([
        begun,
        said('lead', 'ask', { message: 'm1' }),
        said('x', 'X', { branch: 't.x' }),
        said('y', 'Y', { branch: 't.y' }),
        said('lead', 'so', { message: 'm2' }),
        said('writer', 'W'),
        ended,
      ]),
    )
    expect(traces(frames).map(({ type, node, step }) => [type, node, step])).toEqual([
      ['node_start', 'lead', 1],
      ['node_start', 'x', 2],
      ['node_start', 'y', 3],
      ['node_end', 'y', 3],
      ['node_end', 'x', 2],
      ['node_end', 'lead', 1],
      ['node_start', 'writer', 4],
      ['node_end', 'writer', 4],
      ['done', undefined, undefined],
    ])
  })

  test('two agents of one branch that speak at once are two nodes, however their words mix', () => {
    const frames = encodeAll(
      studio,
      rows([
        begun,
        said('critic', 'Yes', { partial: true }),
        said('editor', 'No', { partial: true }),
        said('critic', 'Yes'),
        said('editor', 'No'),
        ended,
      ]),
    )
    expect(traces(frames).map(({ type, node }) => `${type} ${node}`)).toEqual([
      'node_start critic',
      'node_start editor',
      'node_end critic',
      'node_end editor',
      'done undefined',
    ])
  })

  test('what is still open at the end is closed from the inside out', () => {
    const node = (id: string): RunEvent => ({ kind: 'node.started', node: `${id}@1`, agent: id })
    const frames = encodeAll(
      studio,
      rows([begun, node('outer'), node('inner'), { kind: 'run.finished', outcome: 'cancelled' }]),
    )
    const ends = traces(frames).filter(({ type }) => type === 'node_end')
    expect(ends.map(({ node, code }) => [node, code])).toEqual([
      ['inner', 'cancelled'],
      ['outer', 'cancelled'],
    ])
  })

  test('a state delta shows at once, with the keys that changed', () => {
    const writes: RunEvent = {
      kind: 'agent',
      message: 'w',
      event: {
        id: 'w',
        author: 'lead',
        invocationId: 'i',
        timestamp: 1,
        actions: { stateDelta: { score: 2, 'temp:x': 1 } },
      },
    }
    const frames = encodeAll(studio, rows([begun, said('lead', 'hm'), writes, ended]))
    expect(traces(frames).find(({ type }) => type === 'state')).toEqual({
      type: 'state',
      state_snapshot: { input: {}, output: { score: 2 } },
      state_keys: ['score'],
    })
    expect(traces(frames).at(-1)?.state_snapshot).toEqual({ input: {}, output: { score: 2 } })
  })

  test('the state of a session goes on in its next run', () => {
    const second: Recorded[] = rows([begun, said('lead', 'again'), ended]).map((row) => ({ ...row, run: 'r2' }))
    const first = rows([begun, { kind: 'state', patch: [{ op: 'add', path: '/k', value: 1 }] }, ended])
    const last = traces(encodeAll(studio, [...first, ...second])).at(-1)
    expect(last?.state_snapshot).toEqual({ input: { k: 1 }, output: { k: 1 } })
  })

  test('a failed run ends its open nodes with an error, and says code and cause where `error` cannot', () => {
    const frames = encodeAll(
      studio,
      rows([
        begun,
        said('lead', 'wait'),
        { kind: 'run.finished', outcome: 'failed', error: { code: 'timeout', message: 'too slow', source: '504' } },
      ]),
    )
    expect(frames.slice(-3).map(({ event }) => event)).toEqual(['error', 'trace', 'end'])
    const [end, done] = traces(frames).slice(-2)
    expect(end).toMatchObject({ type: 'node_end', status: 'error', error: 'too slow', code: 'timeout' })
    expect(done).toMatchObject({ type: 'done', problem: { code: 'timeout', message: 'too slow', source: '504' } })
    expect(events(frames).at(-1)).toEqual({
      kind: 'run.finished',
      outcome: 'failed',
      error: { code: 'timeout', message: 'too slow', source: '504' },
    })
  })

  test('an error of the model is no end of the run', () => {
    const fails: RunEvent = {
      kind: 'agent',
      message: 'e',
      event: { id: 'e', author: 'lead', invocationId: 'i', timestamp: 1, errorCode: '429' },
    }
    const frames = encodeAll(studio, rows([begun, fails, said('lead', 'Sorry.'), ended]))
    expect(frames.find(({ event }) => event === 'log')?.data).toBe('{"message":"429","level":"error"}')
    expect(frames.some(({ event }) => event === 'error')).toBe(false)
  })

  test('the plan facts are told in the log', () => {
    const frames = encodeAll(
      studio,
      rows([
        begun,
        { kind: 'tasks', tasks: [{ id: 't', title: 'Look', status: 'pending', order: 0 }] },
        { kind: 'task.started', task: 't' },
        { kind: 'task.finished', task: 't', status: 'done', result: 'seen' },
        { kind: 'task.reflected', task: 't', text: 'fine' },
        { kind: 'artifact', id: 'a', name: 'Notes', type: 'note', version: 1 },
        { kind: 'artifact', id: 'a', name: 'Notes', type: 'note', version: 1, deleted: true },
        { kind: 'data', id: 'd', operation: 'create', itemType: 'contact' },
      ]),
    )
    expect(frames.filter(({ event }) => event === 'log').map(({ data }) => JSON.parse(data).message)).toEqual([
      'Tasks: Look',
      'Task started: t',
      'Task done: t: seen',
      'Reflection on t: fine',
      'Artifact saved: Notes (note)',
      'Artifact deleted: Notes (note)',
      'Data created: contact d',
    ])
  })

  test('what a crash lost is taken back, and what people do between runs is not on this wire', () => {
    const frames = encodeAll(
      studio,
      rows([
        begun,
        { kind: 'node.started', node: 'a@1', agent: 'a' },
        { kind: 'superseded', messages: ['m'], nodes: ['a@1'] },
        ended,
      ]),
    )
    expect(traces(frames)[1]).toMatchObject({ type: 'node_end', node: 'a', status: 'error', code: 'crashed' })
    const edit = { seq: 1, at: 1, run: '', event: { kind: 'log', level: 'info', message: 'by hand' } } as const
    expect(encodeAll(studio, [edit])).toEqual([])
  })

  test('who joins at the live end gets the open nodes, the state and the text so far', () => {
    const encoder = studio.encoder({ session: 's' })
    expect(encoder.prelude()).toEqual([])
    const log = rows([
      begun,
      { kind: 'node.started', node: 'a@1', agent: 'a' },
      { kind: 'node.started', node: 'b@1', agent: 'b' },
      { kind: 'state', patch: [{ op: 'add', path: '/k', value: 1 }] },
      { ...said('a', 'Hel', { partial: true }), node: 'a@1' } as RunEvent,
    ])
    for (const row of log) encoder.push(row)
    const joined = [...encoder.prelude(), chunk('lo'), { event: 'end', data: '' }]
    const list = events(joined)
    expect(foldState(list)).toEqual({ k: 1 })
    expect(list.filter(({ kind }) => kind === 'node.started')).toHaveLength(2)
    expect(list.find((event) => event.kind === 'agent' && event.event.partial !== true)).toMatchObject({
      node: 'a@1',
      event: { content: { parts: [{ text: 'Hello' }] } },
    })
    encoder.push({ seq: 99, at: 1, run: 'r', event: ended })
    expect(encoder.prelude()).toEqual([])
  })
})

describe('joining at the live end', () => {
  const node = (id: string): RunEvent => ({ kind: 'node.started', node: id, agent: id.replace('@1', '') })
  const heard = (list: readonly RunEvent[], ...more: Frame[]): readonly RunEvent[] => {
    const encoder = studio.encoder({ session: 's' })
    for (const row of rows(list)) encoder.push(row)
    return events([...encoder.prelude(), ...more])
  }
  const by = (id: string, event: RunEvent): RunEvent => ({ ...event, node: id }) as RunEvent

  test('text goes on where it was, whoever started last', () => {
    const list = heard([begun, node('a@1'), by('a@1', said('a', 'Hel', { partial: true })), node('b@1')], chunk('B'))
    expect(list.filter((event) => event.kind === 'agent' && event.event.partial !== true)).toMatchObject([
      { node: 'a@1', event: { content: { parts: [{ text: 'Hel' }] } } },
      { node: 'b@1', event: { content: { parts: [{ text: 'B' }] } } },
    ])
  })
  test('thoughts so far are thoughts, and nobody speaking is silence', () => {
    const thinks = said('a', 'hm', { partial: true })
    const thought = {
      ...thinks,
      event: { ...(thinks as { event: object }).event, content: { parts: [{ text: 'hm', thought: true }] } },
    }
    expect(heard([begun, node('a@1'), by('a@1', thought as RunEvent)])[2]).toMatchObject({
      event: { partial: true, content: { parts: [{ text: 'hm', thought: true }] } },
    })
    expect(heard([begun, node('a@1')]).map(({ kind }) => kind)).toEqual(['run.started', 'node.started', 'run.finished'])
    expect(heard([begun]).map(({ kind }) => kind)).toEqual(['run.started', 'run.finished'])
  })
})

describe('what reads back another way', () => {
  test('a key that was removed shows in the next whole snapshot, not in a state trace', () => {
    const list: RunEvent[] = [
      begun,
      { kind: 'state', patch: [{ op: 'add', path: '/k', value: 1 }] },
      { kind: 'node.started', node: 'a@1', agent: 'a' },
      { kind: 'state', patch: [{ op: 'remove', path: '/k' }] },
      { kind: 'state', patch: [{ op: 'replace', path: '', value: { all: 1, new: 2 } }] },
      ended,
      ended,
    ]
    const frames = encodeAll(studio, rows(list))
    expect(traces(frames).map(({ type }) => type)).toEqual(['node_start', 'state', 'node_end', 'done'])
    expect(traces(frames)[1]?.state_keys).toEqual(['all', 'new'])
    expect(foldState(events(frames))).toEqual({ all: 1, new: 2 })
  })
  test('a value that changes its kind, and one that only looks cut', () => {
    const steps: JsonObject[] = [
      { a: [1] },
      { a: { b: [1] } },
      { a: [2] },
      { a: { b: { c: { d: 1 } } } },
      { a: { b: { c: '{…2}' } } },
    ]
    const frames = steps.flatMap((state, i): Frame[] => [
      {
        event: 'trace',
        data: JSON.stringify({ type: 'node_start', node: 'n', state_snapshot: { input: state }, state_keys: [] }),
      },
      { event: 'trace', data: JSON.stringify({ type: 'node_end', node: 'n', step: i + 1 }) },
    ])
    expect(foldState(events(frames))).toEqual({ a: { b: { c: '{…2}' } } })
  })
  test('another session on the same stream, a frame too long, a log with a message among its facts', () => {
    const list = events([
      { event: 'session', data: 'one' },
      chunk('x'),
      { event: 'end', data: '' },
      { event: 'session', data: 'two' },
      { data: 'event: chunk', truncated: true },
    ])
    expect(list.flatMap((event) => (event.kind === 'foreign' ? [event.reason] : []))).toEqual([
      'another session',
      'longer than a frame may be',
    ])
    const log: RunEvent = { kind: 'log', level: 'info', message: 'm', data: { message: 'other', n: 1 } }
    expect(encodeAll(studio, rows([begun, log]))[1]?.data).toBe('{"message":"m","n":1}')
  })
})

describe('ADK Studio as it really is', () => {
  test('cumulative chunks and deltas give the same text', () => {
    const pieces = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 8 })
    fc.assert(
      fc.property(pieces, (deltas) => {
        const whole = deltas.join('')
        const cumulative = deltas.map((_, i) => chunk(deltas.slice(0, i + 1).join('')))
        expect(textOf(events(cumulative))).toBe(whole)
      }),
    )
  })

  test('text of our own is never taken for cumulative', () => {
    const pieces = fc.array(fc.constantFrom('a', 'aa', 'ab', 'aab', '\u{1f525}', '\u{1f525}a'), { maxLength: 5 })
    fc.assert(
      fc.property(pieces, (deltas) => {
        const log = rows([begun, ...deltas.map((text) => said('', text, { partial: true })), ended])
        const again = log.map((row) => ({ ...row, run: 'r2' }))
        const first = rows([begun, said('', 'b'), ended]).map((row) => ({ ...row, run: 'r0' }))
        expect(textOf(events(encodeAll(studio, [...first, ...log, ...again])))).toBe(
          `b${deltas.join('')}${deltas.join('')}`,
        )
      }),
    )
  })

  test('a last chunk that repeats the answer is kept, not said again', () => {
    const debug = { event: 'debug', data: '{"level":"debug","summary":"x"}' }
    const list = events([debug, chunk('Hello'), chunk('Hello')])
    expect(textOf(list)).toBe('Hello')
    expect(list.find(({ kind }) => kind === 'foreign')).toMatchObject({ raw: 'event: chunk\ndata: Hello' })
  })

  test('a cumulative text that starts over is another message', () => {
    const list = events([chunk('a'), chunk('ab'), chunk('cd'), chunk('cde'), chunk('longer still')])
    expect(
      list.flatMap((event) => (event.kind === 'agent' && event.event.partial !== true ? [textOf([event])] : [])),
    ).toEqual(['ab', 'cde', 'longer still'])
  })

  test('a graph that sends messages and no chunks is heard', () => {
    const message = (content: string, final: boolean): Frame => ({
      event: 'trace',
      data: JSON.stringify({ type: 'message', node: 'a', content, is_final: final }),
    })
    expect(textOf(events([message('Hel', false), message('lo', true)]))).toBe('Hello')
  })

  test.each([
    ['an object', { q: 1 }, { q: 1 }],
    ['JSON text', '{"q":1}', { q: 1 }],
    ['other text', 'now', { input: 'now' }],
    ['a list', [1], { input: [1] }],
    ['nothing', null, {}],
    ['empty text', '', {}],
  ])('arguments as %s', (_, args, expected) => {
    const [, call] = events([{ event: 'tool_call', data: JSON.stringify({ name: 't', args }) }])
    expect(call).toMatchObject({ event: { content: { parts: [{ functionCall: { args: expected } }] } } })
  })

  test('thinking as bare text, an interrupt only the graph tells of, an unfinished stream', () => {
    const list = events([
      { event: 'thinking', data: 'hmm' },
      { event: 'trace', data: '{"type":"interrupted","node":"gate","message":"ok?"}' },
    ])
    expect(list[1]).toMatchObject({ event: { partial: true, content: { parts: [{ text: 'hmm', thought: true }] } } })
    expect(list).toContainEqual({
      kind: 'interrupt',
      id: 'r:interrupt#1',
      reason: 'input_required',
      message: 'ok?',
    })
    expect(list.at(-1)).toEqual({ kind: 'run.finished', outcome: 'interrupted' })
  })
})

describe('hostile input', () => {
  test('JSON 20,000 deep is foreign, 10 MB of text is text', () => {
    const deep = `{"type":"done","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    expect(events([{ event: 'trace', data: deep }])[1]).toMatchObject({ kind: 'foreign', reason: expect.any(String) })
    const long = 'x'.repeat(10_000_000)
    expect(textOf(events([chunk(long)]))).toBe(long)
  })

  test('no log throws', () => {
    fc.assert(
      fc.property(chaos(), (log) => {
        expect(() => decode(encodeAll(studio, log))).not.toThrow()
      }),
      { numRuns: 300 },
    )
  })

  test('parallel agents never mix, whole runs keep state and outcome', () => {
    fc.assert(
      fc.property(sessions(), (some) => {
        const last = some.at(-1)!
        const log = last.event.kind === 'run.finished' ? some : [...some, { ...last, seq: last.seq + 1, event: ended }]
        const list = events(encodeAll(studio, log))
        expect(list.filter(({ kind }) => kind === 'foreign')).toEqual([])
        for (const event of list) {
          if (event.kind !== 'agent' || event.event.partial === true) continue
          const spoken = textOf([event])
          expect(new Set(spoken).size).toBeLessThanOrEqual(1)
        }
        expect([...textOf(list)].sort().join('')).toBe([...spokenIn(log)].sort().join(''))
        expect(foldState(list)).toEqual(foldState(log.map(({ event }) => event)))
        const outcomes = list.flatMap((event) => (event.kind === 'run.finished' ? [event.outcome] : []))
        const expected = outcomesOf(log)
        expect(outcomes.map((outcome, i) => expected[i] ?? outcome)).toEqual(outcomes)
        expect(outcomes).toHaveLength(expected.length)
      }),
      { numRuns: 300 },
    )
  })
})

/** How each run ended; undefined for one that did not. */
function outcomesOf(log: readonly Recorded[]): (string | undefined)[] {
  const outcomes = new Map<string, string | undefined>()
  for (const { run, event } of log) outcomes.set(run, event.kind === 'run.finished' ? event.outcome : outcomes.get(run))
  return [...outcomes.values()]
}

/** Every message's text once: its aggregate, or its partials where none came. */
function spokenIn(log: readonly Recorded[]): string {
  const messages = new Map<string, string>()
  const whole = new Set<string>()
  for (const { run, event } of log) {
    if (event.kind !== 'agent') continue
    const key = `${run} ${event.message}`
    const text = (event.event.content?.parts ?? [])
      .map((part) => (part.thought === true ? '' : (part.text ?? '')))
      .join('')
    if (event.event.partial !== true && text !== '') {
      messages.set(key, text)
      whole.add(key)
    } else if (!whole.has(key)) messages.set(key, (messages.get(key) ?? '') + text)
  }
  return [...messages.values()].join('')
}

function foldState(list: readonly RunEvent[]): JsonObject {
  return list.reduce<JsonObject>((state, event) => applyState(state, event), {})
}

function depthOf(value: Json): number {
  if (value === null || typeof value !== 'object') return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}
