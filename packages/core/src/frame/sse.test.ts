import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Frame } from './frame.ts'
import { printFrame, printRetry, sseReader } from './sse.ts'

const long = 'x'.repeat(2000)

/** Streams and what they mean: the examples of the WHATWG standard (9.2.6) and the cases of its test suite. */
const table: readonly [what: string, text: string, frames: readonly Frame[]][] = [
  ['lines of data join with LF', 'data: YHOO\ndata: +2\ndata: 10\n\n', [{ data: 'YHOO\n+2\n10' }]],
  [
    'one leading space is not data; an id without value is an id',
    ': test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n',
    [
      { data: '', comment: 'test stream' },
      { data: 'first event', id: '1' },
      { data: 'second event', id: '' },
      { data: ' third event' },
    ],
  ],
  ['empty data is data', 'data\n\ndata\ndata\n\ndata:', [{ data: '' }, { data: '\n' }]],
  ['the space after the colon is optional', 'data:test\n\ndata: test\n\n', [{ data: 'test' }, { data: 'test' }]],
  [
    'field names are exact',
    'data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n',
    [{ data: '\0\n 2\n1\n3\n\n4' }],
  ],
  ['a tab is not a space', 'data:\ttest\rdata: \ndata:test\n\n', [{ data: '\ttest\n\ntest' }]],
  ['LF, CR and CRLF may mix', 'data:test\r\ndata\ndata:test\r\n\r', [{ data: 'test\n\ntest' }]],
  ['a final CR ends the frame without waiting', 'data: a\r\r', [{ data: 'a' }]],
  ['blank lines alone are nothing', '\n\n\r\n\r\r\n', []],
  ['one BOM is taken off the start', '\uFEFFdata:1\n\n\uFEFFdata:2\n\ndata:3\n\n', [{ data: '1' }, { data: '3' }]],
  ['a second BOM is text', '\uFEFF\uFEFFdata:1\n\ndata:2\n\n', [{ data: '2' }]],
  ['the letters of a BOM in Latin-1 are text', 'ï»¿data:1\n\ndata:2\n\n', [{ data: '2' }]],
  [
    'comments are not data, wherever they stand',
    `data:1\r:\0\n:\r\ndata:2\n:${long}\rdata:3\n:data:fail\r:${long}\ndata:4\n\n`,
    [
      { data: '', comment: '\0' },
      { data: '', comment: '' },
      { data: '', comment: long },
      { data: '', comment: 'data:fail' },
      { data: '', comment: long },
      { data: '1\n2\n3\n4' },
    ],
  ],
  ['an id with NULL is ignored', 'id: a\0b\ndata: x\n\n', [{ data: 'x' }]],
  ['an empty event type is the default', 'event: \ndata:data\n\n', [{ data: 'data' }]],
  ['the last event type counts', 'event: a\nevent: b\ndata: x\n\n', [{ event: 'b', data: 'x' }]],
  ['an event type without data is nothing', 'event: a\n\ndata: x\n\n', [{ data: 'x' }]],
  [
    'unknown fields are ignored',
    'data:test\n data\ndata\nfoobar:xxx\njustsometext\n:note\n\n',
    [{ data: '', comment: 'note' }, { data: 'test\n' }],
  ],
  [
    'a comment with an id is a frame',
    ': run.finished done\nid: 7\n\n',
    [{ data: '', comment: 'run.finished done', id: '7' }],
  ],
  ['many in one', 'data: 1\n\ndata: 2\n\n\n\ndata: 3\n\n', [{ data: '1' }, { data: '2' }, { data: '3' }]],
]

describe('the event stream standard', () => {
  test.each(table)('%s', (_, text, frames) => {
    for (const size of [1, 2, 3, 7, text.length]) expect(readIn(text, size).frames).toEqual(frames)
  })
})

describe('last id', () => {
  test.each([
    ['the id of the last frame that had one', 'id: 1\ndata: a\n\ndata: b\n\n', '1'],
    ['a frame without data counts', 'data: a\nid: 1\n\nid: 2\n\n', '2'],
    ['a comment counts', 'id: 1\ndata: a\n\n: note\nid: 9\n\n', '9'],
    ['an empty id takes it back', 'id: 1\ndata: a\n\nid\n\n', ''],
    ['NULL is ignored, with data or without', 'id: 1\ndata: a\n\nid: 2\0\n\nid: 3\0\ndata: b\n\n', '1'],
    ['a frame that has not ended does not count', 'id: 1\ndata: a\n\nid: 2\ndata: b\n', '1'],
    ['the last line of several', 'id: 1\nid: 2\n\n', '2'],
    ['U+2028 is text, not the end of a line', 'id: 1\n\nx\u2028id: 2\n\nevent: e\u2029id: 3\n\n', '1'],
    ['names are exact', 'id: 1\n\nidea: 2\n\nmid: 3\n\n', '1'],
  ])('%s', (_, text, id) => {
    for (const size of [1, 3, text.length]) expect(readIn(text, size).reader.lastId).toBe(id)
  })
})

test('retry is a number of digits, and is printed as such', () => {
  expect(readIn('retry: 3000\n\n', 1).reader.retry).toBe(3000)
  expect(readIn('retry: 3000\n\nretry: 1e3\n\nretry\n\nretry: -1\n\n', 4).reader.retry).toBe(3000)
  expect(readIn('data: x\n\n', 4).reader.retry).toBeUndefined()
  expect(readIn(printRetry(2500.4), 2).reader.retry).toBe(2500)
})

test('a stream that stops inside a frame that is too long is open, and closed when that has ended', () => {
  const reader = sseReader(8)
  expect(reader.feed('data: 0123456789')).toMatchObject([{ truncated: true }])
  expect(reader.open).toBe(true)
  reader.feed('0123456789\n\n')
  expect(reader.open).toBe(false)
})

describe('open: the stream stops inside a frame', () => {
  test.each([
    ['', false],
    ['data: a\n\n', false],
    ['data: a\r\n\r\n', false],
    ['data: a\r\r', false],
    ['\uFEFF', false],
    [': note\n', false],
    [': no', false],
    ['data: a\n\n: note\n', false],
    ['d', true],
    ['data: a', true],
    ['data: a\n', true],
    ['data: a\r', true],
    ['data: a\r\n', true],
    ['event: x\n', true],
    ['data: a\n\nid: 4\n', true],
    [': note\nda', true],
  ])('%j: %j', (text, open) => {
    for (const size of [1, 2, 5, text.length]) expect(readIn(text, size).reader.open).toBe(open)
  })
})

describe('bounds', () => {
  const stream = (length: number): string => `data: a\n\ndata: ${'b'.repeat(length)}\n\ndata: c\n\n`
  test('a frame that is too long comes out as its beginning, and the next one is read', () => {
    for (const size of [1, 16, 5000, 20_000]) {
      const { frames } = readIn(stream(10_000), size, 4096)
      expect(frames).toEqual([{ data: 'a' }, { data: `data: ${'b'.repeat(1018)}`, truncated: true }, { data: 'c' }])
    }
  })
  test('the bound is on the frame, however it is cut, and however many lines it has', () => {
    // "data: " + 10 + LF = 17 characters
    for (const size of [1, 3, 100]) {
      expect(readIn(stream(10), size, 17).frames).toHaveLength(3)
      expect(readIn(stream(10), size, 17).frames.some((frame) => frame.truncated === true)).toBe(false)
      expect(readIn(stream(10), size, 16).frames[1]?.truncated).toBe(true)
      expect(readIn('data: 1\ndata: 2\ndata: 3\n\n', size, 23).frames).toEqual([
        { data: 'data: 1\ndata: 2\ndata: 3', truncated: true },
      ])
      expect(readIn('data: 1\ndata: 2\ndata: 3\n\n', size, 24).frames).toEqual([{ data: '1\n2\n3' }])
    }
  })
  test('a frame that never ends is held no further than the bound', () => {
    const reader = sseReader(1000)
    let frames = 0
    for (let i = 0; i < 100_000; i++) frames += reader.feed('data: 0123456789\n').length
    expect(frames).toBe(1)
    expect(reader.feed('\ndata: x\n\n')).toEqual([{ data: 'x' }])
  })
  test('ten megabytes in one frame', () => {
    const data = 'ü'.repeat(10_000_000)
    expect(readIn(`data: ${data}\n\n`, 65_536).frames).toEqual([{ data }])
  })
})

test('SPEC 3.2: any chunking of any stream gives the frames that the standard gives', () => {
  const piece = fc.oneof(
    fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\r', '\r\n\r\n', ':', ': ', ' ', '\0', '\uFEFF', 'ï»¿', 'ü', '🔥'),
    fc.constantFrom('data', 'data:', 'data: ', 'event: e', 'id', 'id: 5', 'id:6', 'retry: 10', 'foo: bar', ': note'),
    fc.string({ maxLength: 5 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), fc.array(fc.nat(60), { maxLength: 20 }), (pieces, cuts) => {
      const text = pieces.join('')
      const reader = sseReader()
      const frames: Frame[] = []
      let from = 0
      for (const cut of [...cuts.map((at) => at % (text.length + 1)).toSorted((a, b) => a - b), text.length]) {
        frames.push(...reader.feed(text.slice(from, cut)))
        from = cut
      }
      const standard = standardFrames(text)
      expect(frames).toEqual(standard.frames)
      expect(reader.lastId).toBe(standard.lastId)
      expect(reader.open).toBe(standard.open)
    }),
    { numRuns: 2000 },
  )
})

describe('printing', () => {
  test('fields cannot be broken out of', () => {
    expect(printFrame({ event: 'a\ndata: x', id: '1\n\0', data: 'y', comment: 'c\r\nd' })).toBe(
      ': c d\nevent: a data: x\nid: 1\ndata: y\n\n',
    )
    expect(printFrame({ data: '' })).toBe('data: \n\n')
    expect(printFrame({ data: '', comment: 'ping' })).toBe(': ping\n\n')
    expect(printFrame({ data: '', comment: 'end', id: '4' })).toBe(': end\nid: 4\n\n')
    expect(printFrame({ event: 'end', data: '' })).toBe('event: end\ndata: \n\n')
  })
  test('what is printed is read back', () => {
    const line = fc.string().map((text) => text.replace(/[\r\n\0]/g, ''))
    const frame = fc.oneof(
      fc.record({ event: line.filter((name) => name !== ''), id: line, data: fc.string() }, { requiredKeys: ['data'] }),
      fc.record({ comment: line, data: fc.constant('') }),
      fc.record({ comment: line, id: line, data: fc.constant('') }),
    )
    fc.assert(
      fc.property(fc.array(frame), (frames) => {
        const read = sseReader().feed(frames.map(printFrame).join(''))
        expect(read).toEqual(frames.map((it) => ({ ...it, data: it.data.replace(/\r\n?/g, '\n') })))
      }),
    )
  })
})

function readIn(text: string, size: number, maxSize?: number) {
  const reader = sseReader(maxSize)
  const frames: Frame[] = []
  for (let at = 0; at < text.length; at += size) frames.push(...reader.feed(text.slice(at, at + size)))
  return { frames, reader }
}

/** The standard's own algorithm (9.2.6), line by line over the whole text, for comparison. */
function standardFrames(stream: string): { frames: Frame[]; lastId: string; open: boolean } {
  const lines = stream.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  const rest = lines.pop() ?? ''
  const frames: Frame[] = []
  let lastId = ''
  let block: { data: string[]; event: string; id: string | undefined; comments: string[]; fields: number }
  const reset = (): void => {
    block = { data: [], event: '', id: undefined, comments: [], fields: 0 }
  }
  reset()
  for (const line of lines) {
    if (line === '') {
      const { data, event, id, comments } = block!
      if (id !== undefined) lastId = id
      const spare = data.length === 0 && id !== undefined ? { id } : {}
      comments.forEach((comment, i) => {
        frames.push({ data: '', comment, ...(i === comments.length - 1 ? spare : {}) })
      })
      if (data.length > 0) {
        frames.push({ ...(event === '' ? {} : { event }), ...(id === undefined ? {} : { id }), data: data.join('\n') })
      }
      reset()
      continue
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (colon === 0) block!.comments.push(value)
    else block!.fields += 1
    if (field === 'data' && colon !== 0) block!.data.push(value)
    if (field === 'event') block!.event = value
    if (field === 'id' && !value.includes('\0')) block!.id = value
  }
  return { frames, lastId, open: block!.fields > 0 || (rest !== '' && !rest.startsWith(':')) }
}
