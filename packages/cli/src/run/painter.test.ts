import type { AdkPart, Recorded, RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { coloursFor } from '../terminal.ts'
import { RunPainter } from './painter.ts'

function painted(events: readonly RunEvent[], thoughts = false): string {
  let text = ''
  const write = (more: string): void => {
    text += more
  }
  const painter = new RunPainter({ write, colours: coloursFor(false), width: undefined, thoughts })
  events.forEach((event, i) => {
    const row: Recorded = { seq: i + 1, at: i * 10, run: 'r', event }
    painter.take(row)
  })
  painter.end()
  return text
}

function said(author: string, message: string, parts: readonly AdkPart[], partial = false): RunEvent {
  const content = { role: 'model', parts }
  const event = { id: message, author, invocationId: 'r', timestamp: 1, content, ...(partial ? { partial } : {}) }
  return { kind: 'agent', message, node: `lead${author === 'lead' ? '' : `/${author}`}@1`, event }
}

test('a message streams; another author is written whole when it ends', () => {
  const text = painted([
    said('lead', '1', [{ text: 'One ' }], true),
    said('clerk', '2', [{ text: 'Half' }], true),
    said('lead', '1', [{ text: 'line\n' }], true),
    said('clerk', '2', [{ text: 'Half a word\n\n' }]),
    said('lead', '1', [{ text: 'One line\nand more\n' }]),
    said('lead', '3', [{ text: 'End' }]),
  ])
  expect(text).toBe('lead\n  One line\n  and more\n  clerk\n    Half a word\n\nlead\n  End\n')
})

test('a message that others kept waiting is written from its first word', () => {
  const text = painted([
    said('lead', '1', [{ text: 'A' }], true),
    said('clerk', '2', [{ text: 'first ' }], true),
    said('lead', '1', [{ text: 'A' }]),
    said('clerk', '2', [{ text: 'second' }], true),
    said('clerk', '2', [{ text: 'first second' }]),
  ])
  expect(text).toBe('lead\n  A\n  clerk\n    first second\n')
})

test('calls, answers and errors are lines; what could move the cursor is not written', () => {
  const call = { functionCall: { id: 'c', name: 'look', args: { at: 'x\u001b[2J' } } }
  const text = painted([
    said('lead', '1', [call]),
    said('lead', '2', [{ functionResponse: { id: 'c', name: 'look', response: { error: 'dark' } } }]),
    { kind: 'log', level: 'warn', message: 'slow\u001b[1m' },
  ])
  expect(text).toBe('lead\n  → look  {"at":"x\\u001b[2J"}\n  ✗ look 10 ms  {"error":"dark"}\n! slow[1m\n')
})

test('thoughts are written only when they are asked for', () => {
  const events = [said('lead', '1', [{ text: 'hm', thought: true }, { text: 'Yes' }])]
  expect([painted(events), painted(events, true)]).toEqual(['lead\n  Yes\n', 'lead\n  hmYes\n'])
})
