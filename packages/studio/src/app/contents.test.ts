import { fold, type Recorded, type RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { contentsView } from './contents.ts'

test('a log with records of model calls has usage to show, also where no message reports tokens', () => {
  const called: RunEvent = { kind: 'model.started', call: 'c1', agent: 'a', model: 'm', tools: 0 }
  const row: Recorded = { seq: 1, at: 1, run: 'r', event: called }
  expect(fold(contentsView, [row]).usage).toBe(true)
  expect(fold(contentsView, []).usage).toBe(false)
})
