import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { begun, chunk, ended, events, foldState, rows, textOf, traces } from '../../../../../test/kit/studio-wire.ts'
import type { RunEvent } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import type { JsonObject } from '../../json/json.ts'
import { encodeAll } from '../../testing/index.ts'
import { flowView, stateKeys } from '../../view/flow/index.ts'
import { fold } from '../../view/view.ts'
import { studio } from './index.ts'

test('a node that writes an equal value again has written it: the edge after it carries the key', () => {
  const found = { incident: { fire: 'Cedar' }, areas: [1] }
  const trace = (data: JsonObject): Frame => ({ event: 'trace', data: JSON.stringify(data) })
  const snapshot = { state_snapshot: { input: found, output: found }, state_keys: ['incident', 'areas'] }
  const again = trace({
    type: 'state',
    node: 'a',
    state_snapshot: { input: {}, output: found },
    state_keys: ['incident'],
  })
  const wire = [
    trace({ type: 'node_start', node: 'a', step: 1, ...snapshot }),
    again,
    trace({ type: 'node_end', node: 'a', step: 1, ...snapshot }),
    trace({ type: 'node_start', node: 'b', step: 2, ...snapshot }),
  ]
  const keys = stateKeys(fold(flowView, rows(events(wire))))
  expect(keys.get('a->b')).toEqual(['incident', 'areas'])
})

describe('streams of ADK Studio’s own server', () => {
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

  test('a last chunk that repeats the answer is kept as foreign, and adds no text', () => {
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

  test('the text of a graph that sends messages and no chunks is read', () => {
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

  test('thinking as bare text, an interrupt that only the graph reports, an unfinished stream', () => {
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

describe('what a reader cannot get back exactly', () => {
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
  test('a value that changes its type, and one that only looks cut', () => {
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
      'the frame is too long',
    ])
    const log: RunEvent = { kind: 'log', level: 'info', message: 'm', data: { message: 'other', n: 1 } }
    expect(encodeAll(studio, rows([begun, log]))[1]?.data).toBe('{"message":"m","n":1}')
  })
})
