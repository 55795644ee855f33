import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sessions } from '../../../../../../test/kit/arbitrary-events.ts'
import type { AdkEvent } from '../../../event/adk-event.ts'
import type { Recorded } from '../../../event/run-event.ts'
import { agUiEncoder } from '../encoder.ts'

/** The same row, marked so that no shorter way of printing applies to it. */
const marked = (row: Recorded): Recorded => ({ ...row, event: { ...row.event, extra: row.event.extra ?? {} } })

function printed(rows: readonly Recorded[]): readonly (readonly string[])[] {
  const encoder = agUiEncoder({ session: 's' })
  return rows.map((row) => encoder.push(row).map(({ data }) => data))
}

test('tokens are printed alike by the short way and by the general one', () => {
  fc.assert(
    fc.property(sessions(), (rows) => {
      expect(printed(rows)).toEqual(printed(rows.map(marked)))
    }),
  )
})

test('a text that something else interrupts, or another speaks, goes on as the general way prints it', () => {
  const said = (text: string, more: Partial<AdkEvent> = {}, node?: string): Recorded['event'] => ({
    kind: 'agent',
    message: 'm',
    event: {
      id: 'e',
      author: 'a',
      invocationId: 'r',
      timestamp: 1,
      partial: true,
      content: { role: 'model', parts: [{ text }] },
      ...more,
    },
    ...(node === undefined ? {} : { node }),
  })
  const thought = { content: { role: 'model', parts: [{ text: 'hm', thought: true }] } }
  const events: readonly Recorded['event'][] = [
    { kind: 'run.started', agent: 'a', input: { messages: [] } },
    said('one '),
    said('two '),
    said('three ', {}, 'n@1'),
    said('four ', {}, 'n@1'),
    said('', {}),
    said('five', { branch: 'b' }),
    said('six', { author: 'c' }),
    said('seven', thought),
    said('eight'),
    said('nine', { errorCode: 'E' }),
    said('ten', { errorMessage: 'broken' }),
    said('eleven', { usageMetadata: { totalTokenCount: 3 } }),
    said('twelve', { content: { role: 'model', parts: [] } }),
    said('thirteen'),
    { kind: 'log', level: 'info', message: 'hello' },
    said('fourteen'),
    said('fourteen', { partial: false }),
    { kind: 'run.finished', outcome: 'done' },
  ]
  const rows = events.map((event, i): Recorded => ({ seq: i + 1, at: 1, run: 'r', event }))
  expect(printed(rows)).toEqual(printed(rows.map(marked)))
  expect(printed(rows)[2]).toEqual(['{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"two "}'])
})

test('SPEC 3.1: parts that are no objects, in a log that was not checked, are left out', () => {
  const parts = [null, 7, { text: 'Hi' }] as unknown as NonNullable<AdkEvent['content']>['parts']
  const event = { id: 'e', author: 'a', invocationId: 'i', timestamp: 1, content: { role: 'model', parts } } as AdkEvent
  const row: Recorded = { seq: 1, at: 1, run: 'r', event: { kind: 'agent', message: 'm', event } }
  expect(printed([row]).flat().join()).toContain('"delta":"Hi"')
})
