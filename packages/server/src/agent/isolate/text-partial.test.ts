import { isRunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { isTextPartial } from './text-partial.ts'

const none = { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} }
const event = {
  id: 'e',
  author: 'a',
  invocationId: 'r',
  timestamp: 1,
  partial: true,
  content: { role: 'model', parts: [{ text: 'word', thought: true }, { text: '' }] },
  actions: none,
  longRunningToolIds: [],
  branch: 'b',
}
const said = { kind: 'agent', event, message: 'm', node: 'a@1' }

/** Each value that a field must not have, or has only in events that are more than text. */
const others: readonly (readonly [string, readonly unknown[]])[] = [
  ['id', [5, null, undefined, {}]],
  ['author', [5, null, undefined]],
  ['invocationId', [5, null, undefined]],
  ['timestamp', ['1', Number.NaN, Number.POSITIVE_INFINITY, null, undefined]],
  ['partial', [false, 1, undefined]],
  ['branch', [5, null]],
  ['actions', [null, 5, [], { ...none, stateDelta: { a: 1 } }, { ...none, escalate: true }, { stateDelta: null }]],
  ['longRunningToolIds', [['x'], {}, null]],
  ['usageMetadata', [{ totalTokenCount: 1 }]],
  [
    'content',
    [
      null,
      5,
      {},
      { parts: 5 },
      { parts: [null] },
      { parts: [{ text: 5 }] },
      { parts: [{ text: '', thought: 1 }] },
    ].concat([
      { parts: [{ text: '', functionCall: { name: 'f' } }] },
      { role: 5, parts: [] },
      { parts: [], more: 1 },
    ] as never),
  ],
]

test('text is known as such, and the guard for all events agrees', () => {
  const { node: _, ...outside } = said
  const { actions: __, branch: ___, longRunningToolIds: ____, ...little } = event
  for (const one of [said, outside, { ...said, event: little }]) {
    expect(isTextPartial(one)).toBe(true)
    expect(isRunEvent(one)).toBe(true)
  }
})

test('whatever else a partial has is left to the guard', () => {
  for (const [key, values] of others)
    for (const value of values) expect(isTextPartial({ ...said, event: { ...event, [key]: value } }), key).toBe(false)
  for (const more of [{ kind: 'log' }, { message: 5 }, { node: 5 }, { task: 't' }, { extra: {} }, { event: null }])
    expect(isTextPartial({ ...said, ...more })).toBe(false)
  for (const value of [null, undefined, 5, 'x', []]) expect(isTextPartial(value)).toBe(false)
})
