import { expect, test } from 'vitest'
import { callIds } from './call-ids.ts'

test('calls without id are numbered by name, and answered oldest first', () => {
  const ids = callIds('r')
  expect(ids.call('search', undefined)).toEqual({ id: 'r:search#1', implied: true })
  expect(ids.call('search', undefined).id).toBe('r:search#2')
  expect(ids.call('read', undefined).id).toBe('r:read#1')
  expect(ids.result('search', undefined)).toEqual({ id: 'r:search#1', implied: true })
  expect(ids.result('search', 'r:search#2')).toEqual({ id: 'r:search#2', implied: true })
})

test('an id out of order is not implied, and leaves the other calls open', () => {
  const ids = callIds('r')
  ids.call('search', 'c1')
  ids.call('search', 'c2')
  expect(ids.result('search', 'c2')).toEqual({ id: 'c2', implied: false })
  expect(ids.result('search', undefined)).toEqual({ id: 'c1', implied: false })
  ids.call('search', undefined)
  ids.call('search', undefined)
  expect(ids.result('search', 'r:search#4').implied).toBe(false)
})

test('the id of a result without a call is never that of a later call', () => {
  const ids = callIds('r')
  expect(ids.result('search', undefined)).toEqual({ id: 'r:search#0', implied: true })
  expect(ids.result('search', 'r:search#0').implied).toBe(true)
  expect(ids.call('search', undefined).id).toBe('r:search#1')
})

test('two calls with the same id are answered one after the other', () => {
  const ids = callIds('r')
  ids.call('search', 'c')
  ids.call('search', 'c')
  expect([ids.result('search', 'c').id, ids.result('search', 'c').id]).toEqual(['c', 'c'])
  expect(ids.result('search', undefined).id).toBe('r:search#0')
})
