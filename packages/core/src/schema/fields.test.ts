import { describe, expect, test } from 'vitest'
import { Fault, mostErrors } from './fault.ts'
import { fields } from './fields.ts'
import { count, data, list, oneOf, string } from './readers.ts'

const errorsOf = (read: unknown) => (read instanceof Fault ? read.errors : read)

describe('fields', () => {
  const message = fields({ id: string, role: oneOf(['user', 'tool']) }, { name: string, size: count })

  test('takes the named fields and nothing else', () => {
    expect(message({ id: 'a', role: 'user', name: null, size: 2, more: true }, false)).toEqual({
      id: 'a',
      role: 'user',
      size: 2,
    })
  })

  test('reports every wrong field with its path', () => {
    const read = fields({ messages: list(message), seen: data }, {})({ messages: [{ role: 'x', size: -1 }, 7] }, false)
    expect(errorsOf(read)).toEqual([
      { path: 'messages[0].id', message: 'must be a string' },
      { path: 'messages[0].role', message: 'must be one of user, tool' },
      { path: 'messages[0].size', message: 'must be a whole number, not below 0' },
      { path: 'messages[1]', message: 'must be an object' },
      { path: 'seen', message: 'is missing' },
    ])
  })

  test('a fault is described by its first error, under the name of the value', () => {
    const read = message({ id: 1 }, false)
    expect(read instanceof Fault && [read.describe(), read.describe('message')]).toEqual([
      'id must be a string',
      'message.id must be a string',
    ])
  })
})

describe('lists', () => {
  test('return the same list when nothing had to change', () => {
    const given = ['a', 'b']
    expect(list(string)(given, true)).toBe(given)
  })

  test('of nothing but errors report no more of them than a reader can use', () => {
    const read = list(string)(Array(100_000).fill(7), false)
    expect(errorsOf(read)).toHaveLength(mostErrors)
  })
})
