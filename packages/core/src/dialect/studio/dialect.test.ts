import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { begun, chunk, ended, events, foldState, rows, said, traces } from '../../../../../test/kit/studio-wire.ts'
import { loadVectors } from '../../../../../test/kit/vectors.ts'
import type { Recorded, RunEvent } from '../../event/run-event.ts'
import { printFrame, sseReader } from '../../frame/sse.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import { describeDialect, encodeAll, recorded } from '../../testing/index.ts'
import { studio } from './index.ts'

/** The example stream of the schema, byte for byte (docs/wires/studio.md). */
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

describeDialect({ describe, expect, test }, studio, loadVectors('studio'))

describe('the SSE schema v2', () => {
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

describe('any log on this wire', () => {
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
    expect(frames.filter(({ event }) => event === 'chunk' || event === 'agent')).toEqual([
      chunk('one '),
      { event: 'agent', data: 'a' },
      chunk('one two'),
      { event: 'agent', data: 'b' },
      chunk('ONE TWO'),
      chunk('ONE TWO three'),
    ])
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

  test('two agents of one branch that speak at once are two nodes, however their partials mix', () => {
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
      node: 'lead',
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

  test('a failed run ends its open nodes with an error, and prints code and source, which `error` cannot carry', () => {
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

  test('an error of the model does not end the run', () => {
    const fails: RunEvent = {
      kind: 'agent',
      message: 'e',
      event: { id: 'e', author: 'lead', invocationId: 'i', timestamp: 1, errorCode: '429' },
    }
    const frames = encodeAll(studio, rows([begun, fails, said('lead', 'Sorry.'), ended]))
    expect(frames.find(({ event }) => event === 'log')?.data).toBe('{"message":"429","level":"error"}')
    expect(frames.some(({ event }) => event === 'error')).toBe(false)
  })

  test('the notes of an engine are not printed', () => {
    const note: RunEvent = { kind: 'log', level: 'debug', message: 'checkpoint', data: { blob: 'x' } }
    expect(encodeAll(studio, rows([begun, note]))).toHaveLength(1)
  })

  test('the plan events are printed as log frames', () => {
    const frames = encodeAll(
      studio,
      rows([
        begun,
        { kind: 'tasks', tasks: [{ id: 't', title: 'Look', status: 'pending', order: 0 }] },
        {
          kind: 'tasks.changed',
          changes: [
            { task: 't', title: 'Read' },
            { task: 'u', removed: true },
          ],
        },
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
      'Task changed: Read',
      'Task removed: u',
      'Task started: t',
      'Task done: t: seen',
      'Reflection on t: fine',
      'Artifact saved: Notes (note)',
      'Artifact deleted: Notes (note)',
      'Data created: contact d',
    ])
  })

  test('nodes lost in a crash end with an error, and changes between runs are not on this wire', () => {
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

  test('a reader that joins at the live end gets the open nodes, the state and the text so far', () => {
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

function depthOf(value: Json): number {
  if (value === null || typeof value !== 'object') return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}
