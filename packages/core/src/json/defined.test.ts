import { expect, test } from 'vitest'
import { type Defined, defined } from './defined.ts'

interface Entry {
  readonly name: string
  readonly note?: string
}

test('fields that are undefined are absent, all others stay', () => {
  const note: string | undefined = undefined
  const entry: Entry = defined({ name: 'a', note: note as string | undefined })
  expect(Object.keys(entry)).toEqual(['name'])
  expect(defined({ zero: 0, empty: '', no: false, nothing: null })).toEqual({
    zero: 0,
    empty: '',
    no: false,
    nothing: null,
  })
})

test('the type says which fields may be absent', () => {
  const made: Defined<{ a: number; b: string | undefined }> = { a: 1 }
  expect(defined(made)).toEqual({ a: 1 })
})
