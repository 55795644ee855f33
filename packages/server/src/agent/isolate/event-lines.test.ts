import type { RunEvent } from '@millrace/core'
import fc from 'fast-check'
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
/** What is a partial's own in a text that it shares with others. */
const ownOf = (id: string): string => `1,"id":"${id}","content":{"parts":[{"text":"${id}"}]},"partial":true`
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

  test('partials that share their form arrive with it, so that the server can share it too', () => {
    const partials = [{ message: 'm', node: 'a@1' }, { message: 'n"\n' }].flatMap((speaker) => {
      const form = {
        head: '{"kind":"agent","event":{"author":"a","invocationId":"r","timestamp":',
        tail: `},${JSON.stringify(speaker).slice(1)}`,
      }
      return ['one', 'two'].map((id) => PrintedPartial.formed(form, ownOf(id), speaker.message, speaker.node))
    })
    const events = [partials[0], said('plain'), ...partials.slice(1), said('whole', {}, false), partials[3]]
    const got = read(events)
    expect(plain(got)).toEqual(plain(events as never))
    const formed = got.filter((event) => event instanceof PrintedPartial)
    expect(formed.map(({ own, message, node }) => [own, message, node])).toEqual([
      [ownOf('one'), 'm', 'a@1'],
      [undefined, 'm', undefined],
      [ownOf('two'), 'm', 'a@1'],
      [ownOf('one'), 'n"\n', undefined],
      [ownOf('two'), 'n"\n', undefined],
      [ownOf('two'), 'n"\n', undefined],
    ])
    expect(formed[3]?.form).toBe(formed[4]?.form)
    expect(formed.map(({ text }) => JSON.parse(text))).toEqual(plain(formed))
  })

  test('a form that is not the text around a partial of its message is left out, with what came with it', () => {
    const head = '{"kind":"agent","event":{"author":"a","invocationId":"r","timestamp":'
    const own = `o${ownOf('e')}\n`
    const sent = (form: unknown, speaker = 's["m",null]\n'): unknown =>
      readSent([`1\n${speaker}f${JSON.stringify(form)}\n${own}`]).map((one) => one.kind === 'events' && one.events)
    expect(sent([head, '},"message":"m"}'])).toMatchObject([[{ kind: 'agent', message: 'm' }]])
    const forms = [
      null,
      [],
      [1, 2],
      [head],
      [`${head}\n`, '},"message":"m"}'],
      [head.replace('{"author"', '\n{"author"'), '},"message":"m"}'],
      [head, '},\t"message":"m"}'],
      [head, '},"message":"n"}'],
      [head, '},"message":"m","node":"a@1"}'],
      [head, '},"message":"m"'],
      [head, '},"message":"m"},"timestamp":2'],
      ['{"kind":"log","event":{"timestamp":', '},"message":"m"}'],
      [head.replace('"a"', '"\ud800"'), '},"message":"m"}'],
      [head.replace('"invocationId":"r",', ''), '},"message":"m"}'],
      [`${head}0,"customMetadata":{"timestamp":`, '}},"message":"m"}'],
      [head.replace('"timestamp":', '"branch":"'), '"},"message":"m"}'],
      ['[', ']'],
      ['', ''],
    ]
    for (const form of forms) expect({ form, sent: sent(form) }).toEqual({ form, sent: [] })
    expect(sent([head, '},"message":"m"}'], '')).toEqual([])
    expect(readSent([`1\ns["m",null]\n${own}`])).toEqual([])
    const form = `f${JSON.stringify([head, '},"message":"m"}'])}\n`
    expect(readSent([`1\ns["m",null]\n${form}s["n",null]\n${own}`])).toEqual([])
  })

  test.each([
    ['a raw NUL', 'p{"kind":"agent","message":"\0"}'],
    ['a raw tab', 'p{"kind":"agent",\t"message":"m"}'],
    ['half of a surrogate pair', 'p{"kind":"agent","message":"\ud800"}'],
    ['a line like those of the file for shared text', 'p5 5 x'],
    ['no text', 'p'],
    ['a text that is no JSON', 'p{"kind":"agent",}'],
  ])('a partial with %s is left out, because the log could not be read again', (_name, line) => {
    expect(readSent([`1\ns["m",null]\n${line}\n`])).toEqual([])
    expect(readSent([`1\ns["m",null]\np${JSON.stringify(said('x'))}\n`])).toHaveLength(1)
  })

  const form = `f${JSON.stringify(['{"kind":"agent","event":{"author":"a","invocationId":"r","timestamp":', '},"message":"m"}'])}\n`
  const own = (text: string): unknown =>
    readSent([`1\ns["m",null]\n${form}o${text}\n`]).flatMap((one) => (one.kind === 'events' ? one.events : []))

  test('whatever a partial says, its own text is taken as JSON.parse takes it', () => {
    const text = fc.string({ unit: 'binary' })
    const said = fc.record({ text, thought: fc.boolean() }, { requiredKeys: ['text'] })
    const content = fc.record({ role: text, parts: fc.array(said) }, { requiredKeys: ['parts'] })
    fc.assert(
      fc.property(fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }), content, (timestamp, words) => {
        const made = JSON.stringify({ timestamp, id: 'e', content: words, partial: true })
        const got = own(made.slice('{"timestamp":'.length, -1))
        expect(got).toMatchObject([{ form: {}, message: 'm' }])
        expect(plain(got as never)).toMatchObject([{ event: JSON.parse(made) }])
      }),
    )
  })

  test.each([
    ['no JSON', ownOf('e').replace('"e"', '"e')],
    ['no time', ownOf('e').slice(1)],
    ['a time that is no number', ownOf('e').replace('1', '01')],
    ['an escape that there is not', ownOf('e').replace('"text":"e"', '"text":"\\x"')],
    ['an end that takes the rest with it', `${ownOf('e')},"branch":"`],
  ])('what is a partial’s own and is %s is left out', (_name, text) => {
    expect(own(text)).toEqual([])
  })

  test('what comes as a partial and is none is checked as any other event', () => {
    expect(own(ownOf('e').replace(':true', ':false'))).toMatchObject([{ kind: 'agent', event: { partial: false } }])
    expect(own(ownOf('e').replace('"partial"', '"branch"'))).toMatchObject([{ event: { branch: true } }])
    const lines = [{ kind: 'run.finished', outcome: 'done' }, said('x', { message: 'n' }), said('x', {}, false)]
    const got = readSent([`1\ns["m",null]\n${lines.map((line) => `p${JSON.stringify(line)}\n`).join('')}`])
    expect(got).toMatchObject([{ events: lines }])
    const all = [own(ownOf('e').replace(':true', ':false')), got[0]?.kind === 'events' ? got[0].events : []].flat()
    expect(all.some((event) => event instanceof PrintedPartial)).toBe(false)
  })

  test('what is no event arrives too, and the server refuses it', () => {
    const strange = [null, 5, 'p', [], { kind: 'agent', event: { partial: true }, message: 'm' }, undefined, () => 1]
    const got = read(strange)
    expect(got).toEqual([null, 5, 'p', [], { kind: 'agent', event: { partial: true }, message: 'm' }, null, null])
    expect(got.some((event) => event instanceof PrintedPartial)).toBe(false)
  })

  test('what the code of an agent sends over the channel itself is left out', () => {
    const ours = printSent({ kind: 'events', call: 7, events: [said('one')], last: true })
    const strange = [
      '{"kind":"pong"}',
      '{"kind":"pong","used":{"memory":"x"}}',
      '{"kind":"fault"}',
      '{"kind":"stray","message":5}',
      '{"kind":"end","call":7,"problem":"x"}',
      '{"kind":"described","call":7}',
      '{"kind":"calls","call":7,"of":1}',
      '{"kind":"events","call":7}',
    ]
    expect(readSent(strange)).toEqual([])
    for (const sent of [null, 5, 'x', {}, [], ['x', '', '1', '1\n{', '1\n{}', null, 5, '{', '\n', 's']])
      expect(readSent(sent).every(({ kind }) => kind === 'events')).toBe(true)
    expect(readSent(['x', ours, 5])).toMatchObject([{ kind: 'events', call: 7, last: true }])
  })
})
