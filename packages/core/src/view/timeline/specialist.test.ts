import { describe, expect, test } from 'vitest'
import type { AdkEvent, AdkPart } from '../../event/adk-event.ts'
import type { Recorded, RunEvent } from '../../event/run-event.ts'
import type { JsonObject } from '../../json/json.ts'
import { flowView } from '../flow/index.ts'
import { fold } from '../view.ts'
import { timelineView } from './index.ts'

const rowsOf = (events: readonly RunEvent[]): readonly Recorded[] =>
  events.map((event, i) => ({ seq: 1 + i, at: 1000 * (1 + i), run: 'r', event }))
const said = (author: string, parts: readonly AdkPart[], more: Partial<AdkEvent> = {}): RunEvent => ({
  kind: 'agent',
  message: 'm',
  event: { id: 'e', author, invocationId: 'i', timestamp: 0, content: { parts }, ...more },
})
const call = (name: string, id: string, args: JsonObject = { request: 'How severe?' }): AdkPart => ({
  functionCall: { name, id, args },
})
const answer = (name: string, id: string, response: JsonObject = { result: 'High.' }): AdkPart => ({
  functionResponse: { name, id, response },
})
const started: RunEvent = { kind: 'run.started', agent: 'chief', input: { messages: [] } }
const done: RunEvent = { kind: 'run.finished', outcome: 'done' }
const bars = (events: readonly RunEvent[]): unknown =>
  fold(timelineView, rowsOf(events))
    .executions.toArray()
    .map(({ node, parent, call, status, startSeq, endSeq }) => [node, parent, call, status, startSeq, endSeq])
const nodesOf = (events: readonly RunEvent[]): readonly string[] =>
  fold(timelineView, rowsOf(events))
    .executions.toArray()
    .map(({ node }) => node)

describe('specialists that were called as tools, and whose own events are not in the log', () => {
  const asked = said('chief', [call('burn', 'c1'), call('trees', 'c2')])
  const told = said('chief', [answer('burn', 'c1'), answer('trees', 'c2', { error: 'no data' })])

  test('each is an execution inside its caller, from the call to the response', () => {
    expect(bars([started, asked, told, said('chief', [{ text: 'x' }]), done])).toEqual([
      ['chief@1', undefined, undefined, 'ok', 1, 4],
      ['chief/burn@1', 'chief@1', 'c1', 'ok', 2, 3],
      ['chief/trees@1', 'chief@1', 'c2', 'error', 2, 3],
    ])
  })

  test('asked twice, it has two executions and is one node of the flow, with the keys that it wrote', () => {
    const wrote = (id: string, key: string) =>
      said('chief', [answer('burn', id)], { actions: { stateDelta: { [key]: 1 } } })
    const rows = rowsOf([
      started,
      said('chief', [call('burn', 'c1')]),
      wrote('c1', 'severity'),
      said('chief', [call('burn', 'c2')]),
      wrote('c2', 'area'),
      said('chief', [{ text: 'x' }]),
      done,
    ])
    const executions = fold(timelineView, rows).executions.toArray()
    expect(executions.map(({ node, wrote: keys, input, output }) => [node, keys.toArray(), input, output])).toEqual([
      ['chief@1', ['severity', 'area'], {}, { severity: 1, area: 1 }],
      ['chief/burn@1', ['severity'], {}, { severity: 1 }],
      ['chief/burn@2', ['area'], { severity: 1 }, { severity: 1, area: 1 }],
    ])
    const { nodes, edges } = fold(flowView, rows)
    expect(nodes.toArray().map(({ id, executions: count }) => [id, count])).toContainEqual(['chief/burn', 2])
    expect(edges.toArray().map(({ id, count, keys }) => [id, count, keys.map(({ key }) => key)])).toEqual([
      ['START->chief', 1, []],
      ['chief->chief/burn', 2, ['severity']],
      ['chief/burn->chief', 2, ['severity', 'area']],
      ['chief->END', 1, ['severity', 'area']],
    ])
  })

  test('a specialist that has a node, or spoke itself, is not drawn twice', () => {
    const node = (call: string): readonly RunEvent[] => [
      { kind: 'node.started', node: 'chief/burn@1', agent: 'burn', parent: 'chief@1', call },
      { kind: 'node.finished', node: 'chief/burn@1', status: 'ok' },
    ]
    const chief: RunEvent = { kind: 'node.started', node: 'chief@1', agent: 'chief' }
    const nodes = bars([started, chief, said('chief', [call('burn', 'c1')]), ...node('c1'), told, done])
    expect(nodes).toEqual([
      ['chief@1', undefined, undefined, 'ok', 2, 7],
      ['chief/burn@1', 'chief@1', 'c1', 'ok', 4, 5],
    ])
    const spoke = [started, said('chief', [call('burn', 'c1')]), said('burn', [{ text: 'High.' }]), told, done]
    expect(nodesOf(spoke)).toEqual(['chief@1', 'burn@1'])
  })

  test('a run with nodes of which this specialist is none', () => {
    const chief: RunEvent = { kind: 'node.started', node: 'chief@1', agent: 'chief' }
    expect(bars([started, chief, asked, told, done])).toEqual([
      ['chief@1', undefined, undefined, 'ok', 2, 5],
      ['chief/burn@1', 'chief@1', 'c1', 'ok', 3, 4],
      ['chief/trees@1', 'chief@1', 'c2', 'error', 3, 4],
    ])
  })

  test('a tool is no specialist: other arguments, long-running calls, calls without an answer in a run that is done', () => {
    const tools = said('chief', [call('find', 'c1', { place: 'x' }), call('find', 'c2', { request: 'x', most: 3 })])
    const waits = said('chief', [call('approve', 'c3')], { longRunningToolIds: ['c3'] })
    const answers = said('chief', [answer('find', 'c1'), answer('find', 'c2'), answer('approve', 'c3')])
    expect(nodesOf([started, tools, waits, answers, asked, done])).toEqual(['chief@1'])
  })

  test('a recording that was cut off before the answer: the bar ends where the recording does', () => {
    const cut: RunEvent = { kind: 'run.finished', outcome: 'failed', error: { code: 'cut', message: 'x' } }
    expect(bars([started, said('chief', [call('burn', 'c1')]), cut])).toEqual([
      ['chief@1', undefined, undefined, 'interrupted', 1, 2],
      ['chief/burn@1', 'chief@1', 'c1', 'interrupted', 2, 3],
    ])
  })
})
