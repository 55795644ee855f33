import { fold, type Recorded, type RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { failuresView } from './failures.ts'

const failuresOf = (...events: readonly RunEvent[]) =>
  fold(
    failuresView,
    events.map((event, i): Recorded => ({ seq: i + 1, at: i, run: 'r', event })),
  ).list.toArray()

const response = (id: string, answer: Readonly<Record<string, string>>): RunEvent => ({
  kind: 'agent',
  message: 'm',
  node: 'desk@1',
  event: {
    id: 'e',
    author: 'desk',
    invocationId: 'r',
    timestamp: 1,
    content: { role: 'user', parts: [{ functionResponse: { id, name: 'book', response: answer } }] },
  },
})

test('a failure that goes from a step to its run is one failure, at the step', () => {
  const error = { code: 'agent-error', message: 'out of paper' } as const
  const found = failuresOf(
    { kind: 'node.finished', node: 'desk@1', status: 'error', error },
    { kind: 'run.finished', outcome: 'failed', error },
  )
  expect(found).toEqual([
    { seq: 1, run: 'r', kind: 'run', step: 'desk@1', message: 'out of paper', code: 'agent-error' },
  ])
})

test('a tool that answers with an error failed, in its step', () => {
  expect(failuresOf(response('c', { error: 'no room' }), response('d', { ok: 'yes' }))).toEqual([
    { seq: 1, run: 'r', kind: 'tool', step: 'desk@1', tool: 'book', message: 'no room' },
  ])
})

test('a call that a person rejected did not fail', () => {
  const found = failuresOf(
    { kind: 'interrupt', id: 'q', reason: 'confirmation', call: 'c' },
    { kind: 'resumed', interrupt: 'q', status: 'resolved', payload: { confirmed: false } },
    response('c', { error: 'The user said no.' }),
  )
  expect(found).toEqual([])
})

test('a run that was cancelled or waits for a person did not fail', () => {
  expect(failuresOf({ kind: 'run.finished', outcome: 'cancelled' })).toEqual([])
  expect(failuresOf({ kind: 'run.finished', outcome: 'interrupted' })).toEqual([])
})
