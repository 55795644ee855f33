import { expect, test } from 'vitest'
import { ByteWindow } from './byte-window.ts'
import { bytesOf } from './encoded-row.ts'

const piece = (seq: number, text = `${seq};`, terminal = false) => ({ seq, run: 'r', terminal, bytes: bytesOf(text) })

function filled(...seqs: number[]): ByteWindow {
  const window = new ByteWindow()
  for (const seq of seqs) window.add(seq, piece(seq))
  return window
}

test('what was dropped is before the base, so that no reader skips it unaware', () => {
  const window = filled(1, 2, 3, 4)
  window.trim(window.size - 1, 4)
  expect(window.base).toBe(1)
  expect(window.chunkAfter(1, undefined)?.bytes.plain.toString()).toBe('2;3;4;')
  window.trim(0, 3)
  expect(window.base).toBe(3)
  window.trim(0, 4)
  expect(window).toMatchObject({ base: 4, size: 0 })
})

test('rows that print nothing still move the cursor', () => {
  const window = filled(1)
  window.add(2, undefined)
  expect(window.chunkAfter(0, undefined)).toMatchObject({ seq: 2, ends: false })
  expect(window.chunkAfter(1, undefined)?.bytes.plain.length).toBe(0)
  expect(window.chunkAfter(2, undefined)).toBeUndefined()
})

test('readers at the same place get the same bytes, not a copy', () => {
  const window = filled(1, 2)
  expect(window.chunkAfter(0, undefined)).toBe(window.chunkAfter(0, undefined))
  expect(window.chunkAfter(0, undefined)?.bytes.chunked).toBe(window.chunkAfter(0, undefined)?.bytes.chunked)
})

test('a write is bounded, but one event is never split', () => {
  const window = new ByteWindow()
  window.add(1, piece(1, 'a'.repeat(20_000)))
  window.add(2, piece(2, 'b'.repeat(20_000)))
  window.add(3, piece(3, 'c'.repeat(200_000)))
  expect(window.chunkAfter(0, undefined)?.seq).toBe(1)
  expect(window.chunkAfter(1, undefined)?.seq).toBe(2)
  expect(window.chunkAfter(2, undefined)?.bytes.plain.length).toBe(200_000)
  expect(window.ahead(1)).toBe(220_000)
})

test('the terminal event ends a reader of the run, even where it prints nothing', () => {
  const window = filled(1)
  window.add(2, piece(2, '', true))
  window.add(3, piece(3))
  expect(window.chunkAfter(0, 'r')).toMatchObject({ seq: 2, ends: true })
  expect(window.chunkAfter(0, 'other')).toMatchObject({ seq: 3, ends: false })
  expect(window.chunkAfter(0, undefined)).toMatchObject({ seq: 3, ends: false })
})

test('pieces of text are joined to one HTTP chunk, and pieces of bytes stay chunks of their own', () => {
  const texts = ['é', 'x'.repeat(15), 'y'.repeat(255), '\u{1f30a}'.repeat(1024)]
  const window = new ByteWindow()
  for (const [i, text] of texts.entries()) {
    const { chunked, plain, size } = bytesOf(text)
    expect(chunked.toString()).toBe(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
    expect(plain.toString()).toBe(text)
    expect(size).toBe(text.length)
    window.add(i + 1, piece(i + 1, text))
  }
  const all = texts.join('')
  const { bytes } = window.chunkAfter(0, undefined) ?? {}
  expect(bytes?.chunked.toString()).toBe(`${Buffer.byteLength(all).toString(16)}\r\n${all}\r\n`)
  window.add(5, { seq: 5, run: 'r', terminal: false, bytes: bytesOf(Buffer.from('bytes')) })
  const mixed = window.chunkAfter(3, undefined)?.bytes
  expect(mixed?.plain.toString()).toBe(`${texts[3]}bytes`)
  expect(mixed?.chunked.toString()).toBe(`1000\r\n${texts[3]}\r\n5\r\nbytes\r\n`)
  expect(mixed?.size).toBe(mixed?.chunked.length)
})
