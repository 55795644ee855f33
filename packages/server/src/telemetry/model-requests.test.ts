import { expect, test } from 'vitest'
import { modelRequests } from './model-requests.ts'

test('the oldest requests make room for the newest', () => {
  const requests = modelRequests(40)
  for (const event of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']) requests.put('s', event, `"${event}.."`)
  expect(requests.of('s', 'a')).toBeUndefined()
  expect(requests.of('s', 'b')).toBe('"b.."')
  expect(requests.of('s', 'i')).toBe('"i.."')
})

test('a request that would take the room of many others is not kept', () => {
  const requests = modelRequests(40)
  requests.put('s', 'small', '"x"')
  requests.put('s', 'large', '"x".padEnd(6)')
  expect([requests.of('s', 'small'), requests.of('s', 'large')]).toEqual(['"x"', undefined])
})

test('a session is forgotten, and no other', () => {
  const requests = modelRequests()
  requests.put('s', 'a', '1')
  requests.put('s1', 'a', '2')
  requests.forget('s')
  expect([requests.of('s', 'a'), requests.of('s1', 'a')]).toEqual([undefined, '2'])
})
