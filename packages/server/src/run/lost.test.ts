import type { Recorded, RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { said } from '../../../../test/kit/engine-kit.ts'
import { lostBy } from './lost.ts'

test('SPEC 4.6: a second crash before the next checkpoint does not supersede again what the first one did', () => {
  const events: RunEvent[] = [
    { kind: 'run.started', agent: 'a', input: { messages: [] } },
    { kind: 'node.started', node: 'outer@1', agent: 'outer' },
    { kind: 'node.started', node: 'outer/inner@1', agent: 'inner', parent: 'outer@1' },
    Object.assign(said('m', 'words'), { node: 'outer/inner@1' }),
    { kind: 'node.finished', node: 'outer/inner@1', status: 'ok' },
    { kind: 'log', level: 'debug', message: 'checkpoint', data: { spaces: [], unsaved: ['outer/inner@1'] } },
  ]
  const lost = (): RunEvent => {
    const rows = events.map((event, i): Recorded => ({ seq: i + 1, at: 1, run: 'r', event }))
    return lostBy(rows, 'r', { redoesNodes: true, checkpoints: 'log' }, 6)
  }
  expect(lost()).toMatchObject({ messages: ['m'], nodes: ['outer@1', 'outer/inner@1'] })
  events.push(lost())
  expect(lost()).toMatchObject({ messages: [], nodes: [] })
})
