import { callsView, fold, itemsOf, type Recorded, type RunEvent, transcriptView } from '@millrace/core'
import { expect, test } from 'vitest'
import { messagesOf } from './align.ts'
import { firstDivergence, type Happened, happenedIn } from './divergence.ts'

const said = (id: string, author: string, parts: readonly object[], role = 'model'): RunEvent =>
  ({
    kind: 'agent',
    message: id,
    event: { id, author, invocationId: 'r', timestamp: 1, content: { role, parts } },
  }) as unknown as RunEvent
const asked = (call: string, agent: string): RunEvent => ({ kind: 'model.started', call, agent, model: 'm', tools: 0 })
const ended = (call: string, message: string): RunEvent => ({
  kind: 'model.finished',
  call,
  status: 'ok',
  messages: [message],
})
const started: RunEvent = {
  kind: 'run.started',
  agent: 'a',
  input: { messages: [{ id: 'u', role: 'user', content: { role: 'user', parts: [{ text: 'go' }] } }] },
}
/** A run in which an agent looks something up and says it; `id` makes its ids. */
const run = (
  id: string,
  acres: number,
  words: string,
  recorded = true,
  more: readonly RunEvent[] = [],
): readonly Happened[] => {
  const events = [
    started,
    ...(recorded ? [asked('c1', 'a')] : []),
    said(`${id}1`, 'a', [{ functionCall: { id: `${id}f`, name: 'look', args: {} } }]),
    ...(recorded ? [ended('c1', `${id}1`)] : []),
    said(`${id}2`, 'a', [{ functionResponse: { id: `${id}f`, name: 'look', response: { acres } } }], 'user'),
    ...(recorded ? [asked('c2', 'a')] : []),
    said(`${id}3`, 'a', [{ text: words }]),
    ...(recorded ? [ended('c2', `${id}3`)] : []),
    ...more,
  ]
  const rows = events.map((event, i): Recorded => ({ seq: i + 1, at: i, run: 'r', event }))
  return happenedIn(messagesOf(itemsOf(fold(transcriptView, rows))), fold(callsView, rows), undefined)
}

test('the same run with other ids has no divergence', () => {
  expect(firstDivergence(run('x', 1, 'One.'), run('y', 1, 'One.'))).toBeUndefined()
})

test('the first divergence is named by agent, number and kind', () => {
  expect(firstDivergence(run('x', 1, 'One.'), run('y', 1, 'Two.'))).toMatchObject({
    name: 'a’s second model call',
    side: 'left',
  })
  expect(firstDivergence(run('x', 1, 'One.'), run('y', 2, 'Two.'))).toMatchObject({ name: 'a’s first call of look' })
})

test('a call of a step that ran again counts once, with what it gave then', () => {
  const again = (words: string): readonly RunEvent[] => [
    { kind: 'superseded', messages: ['y3'], nodes: [] },
    asked('c3', 'a'),
    said('y4', 'a', [{ text: words }]),
    ended('c3', 'y4'),
  ]
  expect(firstDivergence(run('x', 1, 'One.'), run('y', 1, 'One.', true, again('One.')))).toBeUndefined()
  expect(firstDivergence(run('x', 1, 'One.'), run('y', 1, 'One.', true, again('Two.')))).toMatchObject({
    name: 'a’s second model call',
    side: 'left',
  })
})

test('without records of model calls, the messages are compared', () => {
  expect(firstDivergence(run('x', 1, 'One.', false), run('y', 1, 'Two.', false))).toMatchObject({
    name: 'a’s first message',
  })
})

test('what only one side has is found on that side', () => {
  const whole = run('x', 1, 'One.')
  const half = whole.slice(0, -1)
  expect(firstDivergence(half, whole)).toMatchObject({ name: 'a’s second model call', side: 'right' })
  expect(firstDivergence(whole, half)).toMatchObject({ name: 'a’s second model call', side: 'left' })
  const many = Array.from(
    { length: 12 },
    (_, i): Happened => ({ kind: 'message', agent: 'user', name: '', seq: i, content: 'x' }),
  )
  expect(firstDivergence(many.slice(0, 11), many)).toMatchObject({ name: 'your 12th message' })
})

test.each([
  [11, '11th'],
  [21, '21st'],
  [22, '22nd'],
  [113, '113th'],
  [123, '123rd'],
])('message %d is the %s', (number, name) => {
  const many = Array.from(
    { length: number },
    (_, i): Happened => ({ kind: 'message', agent: 'user', name: '', seq: i, content: 'x' }),
  )
  expect(firstDivergence(many.slice(0, -1), many)).toMatchObject({ name: `your ${name} message` })
})
