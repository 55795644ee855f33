import { expect, test } from 'vitest'
import { type ChangeTarget, changeFrom, fieldsOf } from './draft.ts'

const tool: ChangeTarget = { field: 'tool', run: 'r', call: 'c', name: 'look', result: { acres: 1 } }
const state: ChangeTarget = { field: 'state', run: 'r', seq: 4, path: '/tone', value: 'plain' }
const prompt: ChangeTarget = {
  field: 'prompt',
  run: 'r',
  call: 'c1',
  agent: 'a',
  system: 'Be brief.',
  contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
}
const textsOf = (target: ChangeTarget): string[] => fieldsOf(target).map(({ text }) => text)

test('what was not edited makes the same change', () => {
  for (const target of [tool, state, prompt, { field: 'message', run: 'r', text: 'hi' } as const])
    expect(changeFrom(target, textsOf(target))).toMatchObject({ same: true, change: { field: target.field, run: 'r' } })
})

test('a change says only what differs', () => {
  expect(changeFrom(tool, ['{"acres":2}'])).toEqual({
    same: false,
    change: { field: 'tool', run: 'r', call: 'c', result: { acres: 2 } },
  })
  expect(changeFrom(state, ['"kind"'])).toMatchObject({
    change: { seq: 4, patch: [{ op: 'add', path: '/tone', value: 'kind' }] },
  })
  expect(changeFrom({ ...state, path: '', value: {} }, ['{"a":1}'])).toMatchObject({
    change: { patch: [{ op: 'add', path: '/a', value: 1 }] },
  })
  expect(changeFrom({ ...state, path: '', value: { a: 1, b: 2, 'c/d': 3 } }, ['{"a":1,"c/d":4}'])).toMatchObject({
    change: {
      patch: [
        { op: 'remove', path: '/b' },
        { op: 'add', path: '/c~1d', value: 4 },
      ],
    },
  })
  const [system = '', contents = ''] = textsOf(prompt)
  expect(changeFrom(prompt, ['Shout.', contents])).toEqual({
    same: false,
    change: { field: 'prompt', run: 'r', call: 'c1', system: 'Shout.' },
  })
  const other = [{ role: 'user', parts: [{ text: 'bye' }] }]
  expect(changeFrom(prompt, [system, JSON.stringify(other)])).toEqual({
    same: false,
    change: { field: 'prompt', run: 'r', call: 'c1', contents: other },
  })
})

test('a text that makes no change says why', () => {
  expect(changeFrom(tool, ['{'])).toMatchObject({ problem: expect.stringContaining('Result is not JSON') })
  expect(changeFrom(tool, ['3'])).toEqual({ problem: 'The result must be an object: { … }.' })
  expect(changeFrom({ ...state, path: '', value: {} }, ['3'])).toEqual({
    problem: 'The state must be an object: { … }.',
  })
  expect(changeFrom(prompt, ['x', '[]'])).toMatchObject({ problem: expect.stringContaining('Contents must be a list') })
  expect(changeFrom({ field: 'message', run: 'r', text: 'hi' }, [' '])).toEqual({ problem: 'The message is empty.' })
})
