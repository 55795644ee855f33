import type { RunEvent } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { PrintedPartial } from '../printed-partial.ts'
import { printEvents, readEvents } from './event-lines.ts'
import { printSent, readSent } from './protocol.ts'

const said = (text: string, more: object = {}, partial = true): RunEvent => ({
  kind: 'agent',
  event: {
    id: 'e',
    author: 'a',
    invocationId: 'r',
    timestamp: 1,
    partial,
    content: { role: 'model', parts: [{ text }] },
  },
  message: 'm',
  ...more,
})
const read = (events: readonly unknown[]): readonly RunEvent[] => readEvents(`1\n${printEvents(events as never)}`, 2)
const plain = (events: readonly RunEvent[]): unknown => JSON.parse(JSON.stringify(events))

describe('events between processes', () => {
  test('every event arrives as it was, whatever its text holds', () => {
    const events = [
      { kind: 'node.started', node: 'a@1', agent: 'a' },
      said('line\nbreak\t"quoted" \\ \u2028 \0 \ud800 ü 🙂'),
      said('p{"kind":"agent"}', { node: 'a@1' }),
      said('s["x"]', { node: 'a@1', message: 'n' }),
      said('whole', { node: 'a@1', message: 'n' }, false),
      said('after', { message: 'm\n' }),
      { kind: 'run.finished', outcome: 'done' },
    ]
    expect(plain(read(events))).toEqual(plain(events as never))
  })

  test('a partial has its stored text, its message and its node without being parsed', () => {
    const events = [said('one', { node: 'a@1' }), said('two', { node: 'a@1' }), said('three', { message: 'n' })]
    expect(
      read(events).map((event) => event instanceof PrintedPartial && [event.text, event.message, event.node]),
    ).toEqual([
      [JSON.stringify(events[0]), 'm', 'a@1'],
      [JSON.stringify(events[1]), 'm', 'a@1'],
      [JSON.stringify(events[2]), 'n', undefined],
    ])
    expect(read(events).map((event) => event.kind === 'agent' && event.event)).toMatchObject([
      { content: { parts: [{ text: 'one' }] } },
      { content: { parts: [{ text: 'two' }] } },
      { content: { parts: [{ text: 'three' }] } },
    ])
  })

  test('what is no event arrives too, and the server refuses it', () => {
    const strange = [null, 5, 'p', [], { kind: 'agent', event: { partial: true }, message: 'm' }, undefined, () => 1]
    const got = read(strange)
    expect(got).toEqual([null, 5, 'p', [], { kind: 'agent', event: { partial: true }, message: 'm' }, null, null])
    expect(got.some((event) => event instanceof PrintedPartial)).toBe(false)
  })

  test('what the code of an agent sends over the channel itself is left out', () => {
    const ours = printSent({ kind: 'events', call: 7, events: [said('one')], last: true })
    for (const sent of [null, 5, 'x', {}, [], ['x', '', '1', '1\n{', '1\n{}', null, 5, '{', '\n', 's']])
      expect(readSent(sent).every(({ kind }) => kind === 'events')).toBe(true)
    expect(readSent(['x', ours, 5])).toMatchObject([{ kind: 'events', call: 7, last: true }])
  })
})
