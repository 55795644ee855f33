import { expect, test } from 'vitest'
import { eventNumber } from './event-number.ts'

test('the number of an event has a separator between its thousands', () => {
  expect([7, 999, 99_000, 1_234_567].map(eventNumber)).toEqual(['7', '999', '99,000', '1,234,567'])
})
