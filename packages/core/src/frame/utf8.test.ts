import fc from 'fast-check'
import { expect, test } from 'vitest'
import { utf8Reader } from './utf8.ts'

const whole = (pieces: readonly Uint8Array[]): string => {
  const reader = utf8Reader()
  return pieces.map((piece) => reader.feed(piece)).join('') + reader.end()
}

test('SPEC 3.2: bytes read as TextDecoder reads them, wherever they are cut', () => {
  const likely = fc.constantFrom(0x41, 0x80, 0xbf, 0xc2, 0xe0, 0xa0, 0xed, 0x9f, 0xf0, 0x90, 0xf4, 0x8f, 0xff, 0xef)
  const bytes = fc.array(fc.oneof(likely, fc.nat(255)), { maxLength: 40 }).map((all) => Uint8Array.from(all))
  fc.assert(
    fc.property(bytes, fc.nat(40), fc.nat(40), (all, a, b) => {
      const [from, to] = [Math.min(a, b), Math.max(a, b)]
      const expected = new TextDecoder('utf-8', { ignoreBOM: true }).decode(all)
      expect(whole([all])).toBe(expected)
      expect(whole([all.slice(0, from), all.slice(from, to), all.slice(to)])).toBe(expected)
      expect(whole([...all].map((byte) => Uint8Array.of(byte)))).toBe(expected)
    }),
    { numRuns: 2000 },
  )
})

test('a long text with every kind of character', () => {
  const text = 'aé漢😀'.repeat(20_000)
  expect(whole([new TextEncoder().encode(text)])).toBe(text)
})
