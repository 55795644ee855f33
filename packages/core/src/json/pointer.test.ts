import { expect, test } from 'vitest'
import { pointerKeys, pointerSegment } from './pointer.ts'

test('keys become a pointer and come back (RFC 6901)', () => {
  const keys = ['plain', 'a/b', 'm~n', '~1', '']
  expect(keys.map(pointerSegment).join('')).toBe('/plain/a~1b/m~0n/~01/')
  expect(pointerKeys(keys.map(pointerSegment).join(''))).toEqual(keys)
  expect(pointerKeys('')).toEqual([])
})
