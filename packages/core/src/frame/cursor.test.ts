import fc from 'fast-check'
import { expect, test } from 'vitest'
import { printCursor, readCursor } from './cursor.ts'

test('a cursor is read as it was printed, with whatever run', () => {
  const run = fc.string({ minLength: 1, unit: 'grapheme' })
  fc.assert(
    fc.property(fc.nat(), fc.option(run, { nil: undefined }), (seq, named) => {
      const cursor = { seq, ...(named === undefined ? {} : { run: named }) }
      const text = printCursor(cursor)
      expect(text).toMatch(/^[\x21-\x7e]+$/)
      expect(readCursor(text)).toEqual(cursor)
    }),
  )
})

test.each(['', ' ', ':', 'r:', ':3', 'r:x', '-1', '1.5', '0x1', 'r:-1', '%:3', `${2 ** 53}`])(
  '%j is no cursor',
  (text) => {
    expect(readCursor(text)).toBeUndefined()
  },
)

test('a run with a colon that was not encoded is read up to the last one', () => {
  expect(readCursor('a:b:3')).toEqual({ run: 'a:b', seq: 3 })
})
