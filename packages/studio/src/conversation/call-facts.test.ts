import { fold, type Recorded, type RunEvent, timelineView } from '@millrace/core'
import { expect, test } from 'vitest'
import { timesOf, toolTimesView } from './call-facts.ts'

test('a card shows what the record of its call says, else what the step says that answered it', () => {
  const events: readonly RunEvent[] = [
    { kind: 'run.started', agent: 'boss', input: { messages: [] } },
    { kind: 'node.started', node: 'quick@1', agent: 'quick', call: 'c1' },
    { kind: 'node.started', node: 'slow@1', agent: 'slow', call: 'c2' },
    { kind: 'tool.finished', call: 'c1', name: 'quick', status: 'ok', duration: 105 },
    { kind: 'node.finished', node: 'quick@1', status: 'ok', duration: 100 },
    { kind: 'node.finished', node: 'slow@1', status: 'ok', duration: 650 },
  ]
  const rows = events.map((event, i): Recorded => ({ seq: i + 1, at: i < 3 ? 0 : 906, run: 'r', event }))
  const times = timesOf(fold(timelineView, rows).executions.toArray(), fold(toolTimesView, rows))
  expect([...times]).toEqual([
    ['c1', 105],
    ['c2', 650],
  ])
})
