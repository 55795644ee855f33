import { expect, test } from 'vitest'
import { callText, isCallRecord } from './model-call.ts'
import type { RunEvent } from './run-event.ts'

test('the line that a model is called says what is known of it', () => {
  const started = (more: object): RunEvent => ({ kind: 'model.started', call: 'c1', agent: 'a', ...more })
  expect(callText(started({ model: 'gpt-4o', tools: 2 }))).toBe('Calling gpt-4o (tools: 2)')
  expect(callText(started({ model: 'gpt-4o', waited: 5 }))).toBe('Calling gpt-4o')
  expect(callText(started({}))).toBe('Calling a model')
  expect(isCallRecord(started({}))).toBe(true)
})
