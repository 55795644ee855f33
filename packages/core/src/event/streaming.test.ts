import { expect, test } from 'vitest'
import type { AdkEvent, AdkPart } from './adk-event.ts'
import { hasText, isAggregate, isPartial, spokenText } from './streaming.ts'

const event = (parts: readonly AdkPart[], partial?: boolean): AdkEvent => ({
  id: 'e',
  author: 'writer',
  invocationId: 'i',
  timestamp: 0,
  content: { parts },
  ...(partial === undefined ? {} : { partial }),
})
const text: AdkPart = { text: 'Hello' }
const thought: AdkPart = { text: 'Hm', thought: true }
const call: AdkPart = { functionCall: { name: 'look' } }

test('`partial` alone makes a partial', () => {
  expect(isPartial(event([text], true))).toBe(true)
  expect(isPartial(event([text], false))).toBe(false)
  expect(isPartial(event([text]))).toBe(false)
})

test('a whole event with text or thoughts replaces what was gathered; a call or an empty end does not', () => {
  expect(isAggregate(event([text]))).toBe(true)
  expect(isAggregate(event([thought, call]))).toBe(true)
  expect(isAggregate(event([text], true))).toBe(false)
  expect(isAggregate(event([call]))).toBe(false)
  expect(isAggregate(event([{ text: '' }]))).toBe(false)
})

test('spoken text leaves thoughts out, and an unreadable part is no text', () => {
  expect(spokenText(event([thought, text, call, { text: '!' }]))).toBe('Hello!')
  expect(hasText(event([null as never, { text: 7 as never }]))).toBe(false)
})
