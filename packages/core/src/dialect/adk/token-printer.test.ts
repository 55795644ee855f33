import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chaos, sessions } from '../../../../../test/kit/arbitrary-events.ts'
import type { AdkEvent } from '../../event/adk-event.ts'
import { TokenPrinter } from './token-printer.ts'
import { printEvent } from './wire.ts'

const token: AdkEvent = {
  id: 'm~1',
  author: 'a "b"',
  invocationId: 'r',
  timestamp: 0,
  content: { role: 'model', parts: [{ text: 'Über\n' }] },
  partial: true,
}

test('tokens are printed as any event is, whatever came before', () => {
  const printer = new TokenPrinter()
  const others: readonly Partial<AdkEvent>[] = [{}, { timestamp: 5.5 }, { author: 'c' }, { invocationId: 's' }, {}]
  for (const other of others) {
    const event = { ...token, ...other }
    expect(printer.print(event, 7)).toEqual(printEvent(event, 7))
  }
})

test('an event that is more or less than a token is left to the general printer', () => {
  const [first] = token.content?.parts ?? []
  const others: readonly object[] = [
    { partial: undefined },
    { invocationId: '' },
    { timestamp: Number.NaN },
    { id: undefined },
    { branch: 'b' },
    { content: { parts: [first] } },
    { content: { role: 'model', parts: [first, first] } },
    { content: { role: 'model', parts: [{ ...first, thought: true }] } },
    { content: { role: 'model', parts: [{ functionCall: { name: 'f' } }] } },
    { content: { parts: [first], role: 'model' } },
  ]
  for (const other of others) {
    const event = { ...token, ...other } as AdkEvent
    expect([other, new TokenPrinter().print(event, 7)]).toEqual([other, undefined])
  }
})

test('what it prints of any log is what the general printer prints', () => {
  fc.assert(
    fc.property(fc.oneof(sessions(), chaos()), (rows) => {
      const printer = new TokenPrinter()
      for (const { at, event } of rows) {
        const frame = event.kind === 'agent' && event.event !== null ? printer.print(event.event, at) : undefined
        if (event.kind === 'agent' && frame !== undefined) expect(frame).toEqual(printEvent(event.event, at))
      }
    }),
  )
})
