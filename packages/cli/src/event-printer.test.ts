import type { AdkEvent, Recorded } from '@millrace/core'
import { expect, test } from 'vitest'
import { EventPrinter } from './event-printer.ts'

const call = (name: string) => ({ functionCall: { id: name, name, args: {} } })
const result = (name: string) => ({ functionResponse: { id: name, name, response: { ok: true } } })
const said = (seq: number, author: string, part: object, more: object = {}): Recorded => {
  const event = { id: `e${seq}`, author, content: { role: 'model', parts: [part] }, ...more } as unknown as AdkEvent
  return { seq, at: seq, run: 'r', event: { kind: 'agent', event, message: `m${seq}` } }
}

test('who calls a tool is named above its lines, and once where one author does several things', () => {
  let out = ''
  const printer = new EventPrinter({
    write: (text) => {
      out += text
    },
  })
  for (const row of [
    said(1, 'desk', call('transfer')),
    said(2, 'desk', result('transfer')),
    said(3, 'billing', call('look')),
    said(4, 'billing', result('look'), { actions: { stateDelta: { order: 'A7' } } }),
    said(5, 'billing', { text: 'It is late.' }),
    said(6, 'desk', { text: '' }, { errorMessage: 'no money' }),
  ])
    printer.push(row)
  printer.end()
  expect(out.split('\n')).toEqual([
    'desk',
    '  → transfer {}',
    '  ← transfer {"ok":true}  1 ms',
    'billing',
    '  → look {}',
    '  ← look {"ok":true}  1 ms',
    '  ~ order = "A7"',
    '  It is late.',
    'desk',
    '  ! no money',
    '',
  ])
})
