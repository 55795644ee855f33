import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Line, ndjsonReader, printLine } from './ndjson.ts'

describe('lines of a file', () => {
  test('are numbered as an editor numbers them; blank ones are skipped', () => {
    expect(readIn('{"a":1}\n\n  \r\n{"b":2}\n', 3)).toEqual([
      { number: 1, text: '{"a":1}' },
      { number: 4, text: '{"b":2}' },
    ])
  })
  test('CRLF is white space to JSON, the last line needs no newline, a BOM is not text', () => {
    const lines = readIn('\uFEFF{"a":1}\r\n{"b":2}', 1)
    expect(lines.map(({ text }) => JSON.parse(text))).toEqual([{ a: 1 }, { b: 2 }])
    expect(lines.map(({ number }) => number)).toEqual([1, 2])
  })
  test('a BOM alone, and nothing', () => {
    expect(readIn('\uFEFF', 1)).toEqual([])
    expect(readIn('', 1)).toEqual([])
  })
  test('a line that is too long comes out as its beginning, with its number, and the rest is read', () => {
    for (const size of [1, 50, 10_000]) {
      expect(readIn(`1\n${'x'.repeat(5000)}\n3\n${'y'.repeat(5000)}`, size, 2000)).toEqual([
        { number: 1, text: '1' },
        { number: 2, text: 'x'.repeat(1024), truncated: true },
        { number: 3, text: '3' },
        { number: 4, text: 'y'.repeat(1024), truncated: true },
      ])
    }
  })
  test('the bound does not depend on the chunks', () => {
    for (const size of [1, 4, 100]) {
      expect(readIn('12345\n', size, 5)).toEqual([{ number: 1, text: '12345' }])
      expect(readIn('123456\n', size, 5)).toEqual([{ number: 1, text: '12345', truncated: true }])
    }
  })
})

test('SPEC 2.10: what is printed is read back, in any chunks', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.integer({ min: 1, max: 40 }), (values, size) => {
      const lines = readIn(values.map(printLine).join(''), size)
      expect(lines.map(({ text }) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(values)))
      expect(lines.map(({ number }) => number)).toEqual(values.map((_, i) => i + 1))
    }),
  )
})

function readIn(text: string, size: number, maxSize?: number): Line[] {
  const reader = ndjsonReader(maxSize)
  const lines: Line[] = []
  for (let at = 0; at < text.length; at += size) lines.push(...reader.feed(text.slice(at, at + size)))
  return [...lines, ...reader.end()]
}
