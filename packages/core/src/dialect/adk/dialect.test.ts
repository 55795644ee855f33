import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadVectors } from '../../../../../test/kit/vectors.ts'
import { whyNotRunEvent } from '../../event/guard.ts'
import type { Draft, RunEvent } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { printFrame, sseReader } from '../../frame/sse.ts'
import { describeDialect, encodeAll, recorded } from '../../testing/index.ts'
import { withSeq } from '../dialect.ts'
import { adk } from './index.ts'

describeDialect({ describe, expect, test }, adk, loadVectors('adk'))

const run = 'r'
const decode = (frames: readonly Frame[], how: 'closed' | 'cut' = 'closed'): Draft[] => {
  const decoder = adk.decoder({ run, agent: 'a' })
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end(how)]
}
const eventsOf = (drafts: readonly Draft[]): RunEvent[] => drafts.map(({ event }) => event)
const kindsOf = (drafts: readonly Draft[]): string[] => drafts.map(({ event }) => event.kind)
const said = (words: string): object => ({
  id: '1',
  author: 'a',
  invocationId: 'i',
  timestamp: 1_767_081_391.5,
  content: { role: 'model', parts: [{ text: words }] },
})
const data = (value: unknown): Frame => ({ data: JSON.stringify(value) })

describe.each(loadVectors('adk'))('$name', (vector) => {
  test('SPEC 3.4: printing, reading and printing again gives the same frames', () => {
    const decoder = adk.decoder({ run: vector.run, agent: 'someone' })
    const again = [...vector.encoded.flatMap((frame) => decoder.push(frame)), ...decoder.end('closed')]
    expect(encodeAll(adk, recorded(again))).toEqual(vector.encoded)
  })
  test('SPEC 2.4: ids on the frames change nothing, and the last one is the cursor', () => {
    const encoder = adk.encoder({ session: 's' })
    const rows = recorded(vector.drafts)
    const text = rows
      .flatMap((row) => withSeq(encoder.push(row), row.seq))
      .map(printFrame)
      .join('')
    const reader = sseReader()
    const frames = reader.feed(text)
    expect(frames.map(({ id: _, ...frame }) => frame)).toEqual(vector.encoded)
    expect(reader.lastId).toBe(String(rows.length))
  })
  test('adk-web can read every data line', () => {
    // Its reader parses each line that starts with `data:` as one JSON event, and stalls on one that is not JSON.
    const lines = vector.encoded
      .map(printFrame)
      .join('')
      .split(/\r?\n/)
      .filter((line) => line.startsWith('data:'))
    for (const line of lines) expect(typeof JSON.parse(line.slice(5))).toBe('object')
    const times = lines.map((line) => JSON.parse(line.slice(5)).timestamp).filter((time) => typeof time === 'number')
    for (const time of times) expect(time).toBeLessThan(1e11)
  })
})

describe('the end of a stream', () => {
  test('an empty stream is no run; an empty stream that was cut is a failed run', () => {
    expect(decode([])).toEqual([])
    expect(kindsOf(decode([], 'cut'))).toEqual(['run.started', 'run.finished'])
    expect(decode([{ data: '', comment: 'ping' }])).toEqual([])
  })
  test('a run ends once', () => {
    const decoder = adk.decoder({ run })
    decoder.push(data(said('x')))
    expect(decoder.end('closed')).toHaveLength(1)
    expect(decoder.end('closed')).toEqual([])
    expect(decoder.end('cut')).toEqual([])
  })
  test('an error before the cut is the reason of the failure', () => {
    const error = { code: 'remote-error', message: 'boom' }
    expect(eventsOf(decode([data({ error: 'boom' })], 'cut')).at(-1)).toEqual({
      kind: 'run.finished',
      outcome: 'failed',
      error,
    })
  })
  test('a run that starts while another is open cuts that one off; its own start again does not', () => {
    const drafts = decode([
      { data: '', comment: 'run.started r1 a' },
      { data: '', comment: 'run.started r1 a' },
      { data: '', comment: 'run.started r2 b%20c' },
      { data: '', comment: 'run.finished done' },
    ])
    expect(drafts.map(({ run: of, event }) => [of, event.kind])).toEqual([
      ['r1', 'run.started'],
      ['r1', 'run.finished'],
      ['r2', 'run.started'],
      ['r2', 'run.finished'],
    ])
    expect(drafts[2]?.event).toMatchObject({ agent: 'b c' })
  })
  test('comments that Millrace did not write are ignored', () => {
    const comments = [
      'ping',
      '',
      'run.finished',
      'run.finished well',
      'foreign',
      'foreign {',
      'foreign {"raw":1}',
      'foreign 7',
    ]
    expect(decode(comments.map((comment) => ({ data: '', comment })))).toEqual([])
    expect(kindsOf(decode([{ data: '', comment: 'run.started' }]))).toEqual(['run.started', 'run.finished'])
    expect(decode([{ data: '', comment: 'run.started %E0%A4%A a' }])[0]?.run).toBe('%E0%A4%A')
    expect(decode([{ data: '', comment: 'run.finished failed nonsense' }]).at(-1)?.event).toMatchObject({
      outcome: 'failed',
      error: { code: 'remote-error' },
    })
  })
  test('a comment beside data does not hide the data', () => {
    expect(kindsOf(decode([{ comment: 'ping', ...data(said('x')) }]))).toContain('agent')
  })
  test('without a given agent, it is the first author, but never the user', () => {
    const agentOf = (author: string): unknown => {
      const [first] = adk.decoder({ run }).push(data({ ...said('x'), author }))
      return first?.event.kind === 'run.started' ? first.event.agent : undefined
    }
    expect(agentOf('coordinator')).toBe('coordinator')
    expect(agentOf('user')).toBe('')
  })
})

describe('bad input', () => {
  test.each<[unknown, object]>([
    ['boom', { message: 'boom' }],
    [['a', 1], { message: '["a",1]' }],
    [7, { message: '7' }],
    [{ detail: 'x' }, { message: '{"detail":"x"}' }],
    [
      { message: 'm', code: 'E' },
      { message: 'm', source: 'E' },
    ],
    [
      { message: 'm', status: 500 },
      { message: 'm', source: '500' },
    ],
    [{ message: 'm', code: {} }, { message: 'm' }],
  ])('an error of any shape: %j', (error, problem) => {
    const events = eventsOf(decode([data({ error })]))
    expect(events.at(-1)).toEqual({
      kind: 'run.finished',
      outcome: 'failed',
      error: { code: 'remote-error', ...problem },
    })
    expect(events.some(({ kind }) => kind === 'log')).toBe(typeof error !== 'string')
  })
  test('an event that carries an error field of its own is an event', () => {
    expect(kindsOf(decode([data({ ...said('x'), error: 'note' })]))).toEqual(['run.started', 'agent', 'run.finished'])
    expect(kindsOf(decode([data({ error: null, author: 'a' })]))).toContain('agent')
  })
  test('a frame that was too long is kept as far as it was read', () => {
    const reader = sseReader(100)
    const frames = reader.feed(`data: ${JSON.stringify(said('x'.repeat(200)))}\n\n${printFrame(data(said('y')))}`)
    expect(frames.map((frame) => frame.truncated)).toEqual([true, true])
    expect(eventsOf(decode(frames))[1]).toMatchObject({ kind: 'foreign', reason: 'the frame is too long' })
  })
  test('20,000 levels of JSON, anywhere in an event, are kept as text and go out again', () => {
    const deep = '['.repeat(20_000) + ']'.repeat(20_000)
    const texts = [
      deep,
      JSON.stringify(said('x')).replace('"x"', deep),
      `{"id":"1","author":"a","actions":{"stateDelta":{"k":${deep}}}}`,
      `{"error":${deep}}`,
    ]
    const drafts = decode(texts.map((text) => ({ data: text })))
    expect(kindsOf(drafts)).toEqual(['run.started', 'foreign', 'foreign', 'foreign', 'foreign', 'run.finished'])
    const frames = encodeAll(adk, recorded(drafts))
    expect(eventsOf(decode(frames)).slice(1, 5)).toEqual(eventsOf(drafts).slice(1, 5))
  })
  test('ten megabytes of text, in deltas and whole', () => {
    const words = '🔥 words '.repeat(1_250_000)
    const text = printFrame(data({ ...said(words), partial: true })) + printFrame(data(said(words)))
    const reader = sseReader(32 * 1024 * 1024)
    const frames: Frame[] = []
    for (let at = 0; at < text.length; at += 65_536) frames.push(...reader.feed(text.slice(at, at + 65_536)))
    const drafts = decode(frames)
    expect(kindsOf(drafts)).toEqual(['run.started', 'agent', 'agent', 'run.finished'])
    expect(drafts.slice(1, 3).map(({ event }) => event.kind === 'agent' && event.message)).toEqual(['1', '1'])
    expect(
      encodeAll(adk, recorded(drafts))
        .slice(1, 3)
        .map((frame) => frame.data),
    ).toEqual(frames.map((frame) => frame.data))
  })
  test('an event that cannot be printed becomes a comment', () => {
    const deep: unknown = JSON.parse('['.repeat(20_000) + ']'.repeat(20_000))
    const event = { id: 'e', author: 'a', invocationId: 'i', timestamp: 1, output: deep }
    expect(encodeAll(adk, recorded([{ run, event: { kind: 'agent', event, message: 'e' } }]))).toEqual([
      { data: '', comment: 'event e cannot be printed' },
    ])
  })
  test('a long-lived decoder does not keep what was cut off', () => {
    const decoder = adk.decoder({ run })
    for (let i = 0; i < 20_000; i++) decoder.push(data({ ...said('x'), id: `${i}`, branch: `b${i}`, partial: true }))
    const [late] = decoder.push(data({ ...said('x'), id: 'late', branch: 'b0', partial: true }))
    expect(late?.event).toMatchObject({ message: 'late' })
  })
})

describe('what no ADK event carries', () => {
  const start: RunEvent = { kind: 'run.started', agent: 'root', input: { messages: [], state: { old: 1 } } }
  const wire = (events: readonly RunEvent[], of = run): unknown[] =>
    encodeAll(adk, recorded([start, ...events].map((event) => ({ run: of, event }))))
      .slice(1)
      .map((frame) => (frame.data === '' ? frame.comment : JSON.parse(frame.data)))
  const made = (seq: number, author: string, fields: object): object => ({
    id: `millrace-${seq}`,
    author,
    invocationId: run,
    timestamp: (1_700_000_000_000 + seq - 1) / 1000,
    ...fields,
  })

  test('state: the top-level keys that were set, whole, by the agent of the node', () => {
    const patch: RunEvent = {
      kind: 'state',
      patch: [
        { op: 'add', path: '/a', value: { b: 1 } },
        { op: 'add', path: '/a/c', value: 2 },
      ],
    }
    expect(wire([patch])).toEqual([made(2, 'root', { actions: { stateDelta: { a: { b: 1, c: 2 } } } })])
    expect(wire([{ ...patch, node: 'root/planner@2' }])).toEqual([
      made(2, 'planner', { actions: { stateDelta: { a: { b: 1, c: 2 } } } }),
    ])
    const deeper: RunEvent = { kind: 'state', patch: [{ op: 'replace', path: '/a/b', value: 3 }] }
    expect(wire([patch, deeper])[1]).toEqual(made(3, 'root', { actions: { stateDelta: { a: { b: 3, c: 2 } } } }))
  })
  test('state: a removal, a patch that fails and one that changes nothing print nothing', () => {
    expect(wire([{ kind: 'state', patch: [{ op: 'remove', path: '/old' }] }])).toEqual([])
    expect(wire([{ kind: 'state', patch: [{ op: 'remove', path: '/none' }] }])).toEqual([])
    expect(wire([{ kind: 'state', patch: [{ op: 'test', path: '/old', value: 1 }] }])).toEqual([])
  })
  test('state changed by a person, outside any run, is by the user', () => {
    const event: RunEvent = { kind: 'state', patch: [{ op: 'add', path: '/a', value: 1 }] }
    const [frame] = encodeAll(adk, recorded([{ run: '', event }]))
    expect(JSON.parse(frame?.data ?? '')).toEqual({
      id: 'millrace-1',
      author: 'user',
      timestamp: 1_700_000_000,
      actions: { stateDelta: { a: 1 } },
    })
  })
  test('artifacts: each version is announced once, and not when an event already did', () => {
    const artifact = (version: number, more: object = {}): RunEvent => ({
      kind: 'artifact',
      id: 'x',
      name: 'r.md',
      type: 'note',
      version,
      ...more,
    })
    const event = { id: 'e', author: 'a', invocationId: 'i', timestamp: 1, actions: { artifactDelta: { 'r.md': 1 } } }
    expect(
      wire([
        artifact(0),
        artifact(0),
        { kind: 'agent', event, message: 'e' },
        artifact(1),
        artifact(2, { deleted: true }),
      ]),
    ).toEqual([made(2, 'root', { actions: { artifactDelta: { 'r.md': 0 } } }), { ...event, timestamp: 0.001 }])
  })
  test('interrupts: as a request for input, unless the call is long-running already', () => {
    const ask: RunEvent = {
      kind: 'interrupt',
      id: 'q',
      reason: 'input_required',
      message: 'Which?',
      node: 'root/graph@1',
    }
    const call = {
      name: 'adk_request_input',
      id: 'q',
      args: { interruptId: 'q', payload: null, message: 'Which?', response_schema: null },
    }
    const asked = made(2, 'graph', {
      content: { role: 'model', parts: [{ functionCall: call }] },
      longRunningToolIds: ['q'],
    })
    expect(wire([ask, ask, { kind: 'run.finished', outcome: 'interrupted' }])).toEqual([
      asked,
      'run.finished interrupted',
    ])
    const event = { id: 'e', author: 'a', invocationId: 'i', timestamp: 1, longRunningToolIds: ['c'] }
    expect(
      wire([
        { kind: 'agent', event, message: 'e' },
        { ...ask, call: 'c' },
      ]),
    ).toHaveLength(1)
  })
  test('a failed run without a reason', () => {
    expect(wire([{ kind: 'run.finished', outcome: 'failed' }])).toEqual([{ error: 'failed' }, 'run.finished failed'])
  })
  test('an error that the last event had is not repeated; another one is printed', () => {
    const event = { id: 'e', author: 'a', invocationId: 'i', timestamp: 1, errorCode: 'E', errorMessage: 'm' }
    const after = (message: string): unknown[] =>
      wire([
        { kind: 'agent', event, message: 'e' },
        { kind: 'run.finished', outcome: 'failed', error: { code: 'timeout', message } },
      ]).slice(1)
    expect(after('m')).toEqual(['run.finished failed timeout'])
    expect(after('too slow')).toEqual([{ error: 'too slow' }, 'run.finished failed timeout'])
  })
  test('other events have no form in ADK', () => {
    const rest: RunEvent[] = [
      { kind: 'node.started', node: 'a@1', agent: 'a' },
      { kind: 'node.finished', node: 'a@1', status: 'ok' },
      { kind: 'tasks', tasks: [] },
      { kind: 'tasks.changed', changes: [{ task: '1', title: 't' }] },
      { kind: 'task.started', task: '1' },
      { kind: 'task.finished', task: '1', status: 'done', result: '' },
      { kind: 'task.reflected', task: '1', text: '' },
      { kind: 'data', id: '1', operation: 'delete', itemType: 't' },
      { kind: 'resumed', interrupt: 'q', status: 'resolved' },
      { kind: 'superseded', messages: [], nodes: [] },
      { kind: 'log', level: 'info', message: 'm' },
      { kind: 'foreign', dialect: 'ag-ui', raw: '{}', reason: 'x' },
    ]
    expect(wire(rest)).toEqual([])
  })
  test('the messages of the user, with echo', () => {
    const content = { role: 'user', parts: [{ text: 'hi' }] }
    const messages = [
      { id: 'm1', role: 'user', content },
      { id: 'm2', role: 'system', content },
    ] as const
    const rows = recorded([{ run, event: { kind: 'run.started', agent: 'root', input: { messages } } }])
    expect(rows.flatMap((row) => adk.encoder({ session: 's' }).push(row))).toHaveLength(1)
    const [, frame, more] = rows.flatMap((row) => adk.encoder({ session: 's', echo: true }).push(row))
    expect(JSON.parse(frame?.data ?? '')).toEqual({
      id: 'm1',
      author: 'user',
      invocationId: run,
      timestamp: 1_700_000_000,
      content,
    })
    expect(more).toBeUndefined()
  })
})

describe('prelude', () => {
  test('a reader that joins an open run gets its start', () => {
    const encoder = adk.encoder({ session: 's' })
    expect(encoder.prelude()).toEqual([])
    const [first, last] = recorded([
      { run: 'r 1', event: { kind: 'run.started', agent: 'a', input: { messages: [] } } },
      { run: 'r 1', event: { kind: 'run.finished', outcome: 'done' } },
    ])
    encoder.push(first!)
    expect(encoder.prelude()).toEqual([{ data: '', comment: 'run.started r%201 a' }])
    encoder.push(last!)
    expect(encoder.prelude()).toEqual([])
  })
  test('a name that cannot be encoded is left out', () => {
    const event: RunEvent = { kind: 'run.started', agent: '\uD800', input: { messages: [] } }
    expect(encodeAll(adk, recorded([{ run, event }]))).toEqual([{ data: '', comment: 'run.started r' }])
  })
})

test('SPEC 4.1: whatever comes in, every run starts once and ends once', () => {
  const comment = fc.constantFrom(
    'run.started r1 a',
    'run.started r2 a',
    'run.finished done',
    'run.finished failed',
    'ping',
  )
  const value = fc.oneof(
    fc.constantFrom(said('x'), { ...said('y'), partial: true }, { error: 'e' }, { errorCode: 'E' }, 7, null),
    fc.jsonValue(),
  )
  const frame = fc.oneof(
    comment.map((text) => ({ data: '', comment: text })),
    value.map(data),
    fc.string().map((text) => ({ data: text })),
  )
  fc.assert(
    fc.property(fc.array(frame), fc.constantFrom('closed', 'cut'), (frames, how) => {
      let open: string | undefined
      for (const draft of decode(frames, how)) {
        expect(whyNotRunEvent(draft.event)).toBeUndefined()
        if (draft.event.kind === 'run.started') {
          expect(open).toBeUndefined()
          open = draft.run
        } else expect(draft.run).toBe(open)
        if (draft.event.kind === 'run.finished') open = undefined
      }
      expect(open).toBeUndefined()
    }),
    { numRuns: 500 },
  )
})
