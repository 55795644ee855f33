import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sessions } from '../../../../../test/kit/arbitrary-events.ts'
import { PageReader } from '../../../../../test/kit/studio-page.ts'
import { begun, chunk, ended, events, rows, said, textOf } from '../../../../../test/kit/studio-wire.ts'
import type { Recorded, RunEvent } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { studio } from './index.ts'

const printed = (log: readonly Recorded[], chunks: 'text' | 'delta' = 'text'): readonly Frame[] => {
  const encoder = studio.encoder({ session: 's', chunks })
  return log.flatMap((row) => encoder.push(row))
}
const chunksIn = (frames: readonly Frame[]): readonly string[] =>
  frames.flatMap(({ event, data }) => (event === 'chunk' ? [data] : []))
const streamed = (text: string, size: number, message = 'm', author = 'lead'): RunEvent[] => [
  ...Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
    said(author, text.slice(i * size, (i + 1) * size), { partial: true, message }),
  ),
  said(author, text, { message }),
]
const messagesIn = (list: readonly RunEvent[]): readonly string[] =>
  list.flatMap((event) => (event.kind === 'agent' && event.event.partial !== true ? [textOf([event])] : []))

describe('a chunk is the text of its message so far', () => {
  test('while it is short, every piece is printed', () => {
    expect(chunksIn(printed(rows([begun, ...streamed('abcdefgh', 3), ended])))).toEqual(['abc', 'abcdef', 'abcdefgh'])
  })

  test('SPEC 3.7: each is a beginning of the whole, the last is the whole, and bytes are linear in its length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 1, max: 40 }), (length, size) => {
        const text = 'abcdefghij klmnop\n'.repeat(Math.ceil(length / 18)).slice(0, length)
        const chunks = chunksIn(printed(rows([begun, ...streamed(text, size), ended])))
        expect(chunks.at(-1)).toBe(text)
        for (const each of chunks) expect(text.startsWith(each)).toBe(true)
        const all = chunks.reduce((sum, each) => sum + each.length, 0)
        expect(all).toBeLessThanOrEqual(67 * length + 64)
        // And no reader waits for more than a 64th of the text, or for one piece.
        for (const [i, each] of chunks.entries()) {
          const grew = each.length - (chunks[i - 1]?.length ?? 0)
          expect(grew).toBeLessThanOrEqual(Math.ceil(each.length / 64) + size)
        }
      }),
      { numRuns: 20 },
    )
  })

  test('a character that came in two halves is never printed as half of it', () => {
    const log = rows([begun, ...streamed('a🔥b', 2), ended])
    expect(chunksIn(printed(log))).toEqual(['a🔥b'])
    expect(textOf(events(printed(log)))).toBe('a🔥b')
  })

  test('a page that replaces shows the last message whole, whoever spoke meanwhile', () => {
    const by = (branch: string, event: RunEvent): RunEvent =>
      event.kind === 'agent' ? { ...event, event: { ...event.event, branch } } : event
    const one = streamed('The trails are closed.', 4, 'm1', 'a').map((event) => by('t.a', event))
    const other = streamed('Salvage is possible.', 4, 'm2', 'b').map((event) => by('t.b', event))
    const mixed = one.flatMap((event, i) => [event, ...(other[i] === undefined ? [] : [other[i]])])
    const frames = printed(rows([begun, ...mixed, ended]))
    for (const each of chunksIn(frames)) {
      expect(['The trails are closed.', 'Salvage is possible.'].some((text) => text.startsWith(each))).toBe(true)
    }
    const page = new PageReader()
    for (const frame of frames) page.take(frame)
    expect(page.messages).toEqual(['Salvage is possible.'])
  })
})

const word = fc.constantFrom('a', 'aa', 'ab', 'aab', 'b', '\u{1f525}', '\u{1f525}a')
const call = (author: string): RunEvent => ({
  kind: 'agent',
  message: `${author}-call`,
  event: {
    id: 'c',
    author,
    invocationId: 'i',
    timestamp: 1,
    content: { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
  },
})

describe.each(['text', 'delta'] as const)('what is printed as %s is read back', (kind) => {
  test('messages of one speaker stay apart, whatever they begin with', () => {
    const message = fc.record({ pieces: fc.array(word, { minLength: 1, maxLength: 4 }), acts: fc.boolean() })
    const author = fc.constantFrom('', 'lead')
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), author, (list, who) => {
        const log = rows([
          begun,
          ...list.flatMap(({ pieces, acts }, i) => [
            ...pieces.map((text) => said(who, text, { partial: true, message: `m${i}` })),
            said(who, pieces.join(''), { message: `m${i}` }),
            ...(acts ? [call(who)] : []),
          ]),
          ended,
        ])
        const again = log.map((row) => ({ ...row, run: 'r2' }))
        const list2 = events(printed([...log, ...again], kind))
        const texts = list.map(({ pieces }) => pieces.join(''))
        const whole = messagesIn(list2).filter((text) => text !== '')
        if (kind === 'text') expect(whole).toEqual([...texts, ...texts])
        else expect(whole.join('')).toBe([...texts, ...texts].join(''))
      }),
      { numRuns: 300 },
    )
  })

  test('no text is lost or doubled, for a reader from the start and for one that joins anywhere', () => {
    fc.assert(
      fc.property(sessions(), fc.nat(30), (log, at) => {
        const whole = textOf(events(printed(log, kind)))
        const encoder = studio.encoder({ session: 's', chunks: kind })
        for (const row of log.slice(0, at)) encoder.push(row)
        const joined = [...encoder.prelude(), ...log.slice(at).flatMap((row) => encoder.push(row))]
        const heard = events(joined)
        const unread = heard.flatMap((event) => (event.kind === 'foreign' ? [event.raw] : []))
        expect(unread.filter((raw) => !raw.startsWith('event: session'))).toEqual([])
        // A message has letters of one kind, so a doubled text is longer than the log's.
        for (const letter of new Set(textOf(heard))) {
          const count = (text: string): number => text.split(letter).length
          expect(count(textOf(heard))).toBeLessThanOrEqual(count(whole))
        }
      }),
      { numRuns: 100 },
    )
  })
})

test('old recordings: pieces of a server that follows the schema are read as pieces', () => {
  const start = {
    event: 'trace',
    data: '{"type":"node_start","node":"a","step":1,"state_snapshot":{"input":{},"output":{}},"state_keys":[]}',
  }
  const result = { event: 'tool_result', data: '{"name":"f","result":{}}' }
  expect(textOf(events([start, chunk('Let'), chunk(' me'), result, chunk('So'), chunk(' it is')]))).toBe(
    'Let meSo it is',
  )
})
