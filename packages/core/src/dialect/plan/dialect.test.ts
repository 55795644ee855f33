import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chaos, sessions } from '../../../../../test/kit/arbitrary-events.ts'
import { loadVectors } from '../../../../../test/kit/vectors.ts'
import type { AdkEvent } from '../../event/adk-event.ts'
import type { Draft, Recorded, RunEvent } from '../../event/run-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { printFrame, sseReader } from '../../frame/sse.ts'
import type { JsonObject } from '../../json/json.ts'
import { describeDialect, encodeAll, recorded } from '../../testing/index.ts'
import { planDialect } from './index.ts'

/** The example stream of the contract, byte for byte (docs/wires/plan.md). */
const seedStream = `event: task_selected
data: {"type":"task_selected","taskId":"abc-123"}

event: tool_call
data: {"type":"tool_call","taskId":"abc-123","tool":"web_search","input":{"query":"CRM competitors"}}

event: tool_result
data: {"type":"tool_result","taskId":"abc-123","tool":"web_search","output":"Found results..."}

event: task_completed
data: {"type":"task_completed","taskId":"abc-123","status":"done","result":"Research complete"}

event: done
data: {"type":"done","summary":{"total":1,"completed":1,"failed":0}}

`

const decode = (frames: readonly Frame[], how: 'closed' | 'cut' = 'closed'): readonly Draft[] => {
  const decoder = planDialect.decoder({ run: 'r' })
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end(how)]
}
const events = (frames: readonly Frame[]): readonly RunEvent[] => decode(frames).map(({ event }) => event)
const rows = (list: readonly RunEvent[]): readonly Recorded[] => recorded(list.map((event) => ({ run: 'r', event })))
const printed = (list: readonly RunEvent[]): JsonObject[] =>
  encodeAll(planDialect, rows(list)).map(({ event, data }) => {
    const payload = JSON.parse(data)
    expect(payload.type).toBe(event)
    return payload
  })
const begun: RunEvent = { kind: 'run.started', agent: 'lead', input: { messages: [] } }
const ended: RunEvent = { kind: 'run.finished', outcome: 'done' }
const said = (event: Partial<AdkEvent>, message = 'm', task?: string): RunEvent => ({
  kind: 'agent',
  event: { id: message, author: 'lead', invocationId: 'i', timestamp: 1, ...event },
  message,
  ...(task === undefined ? {} : { task }),
})
const text = (value: string, more: Partial<AdkEvent> = {}, message = 'm'): RunEvent =>
  said({ content: { role: 'model', parts: [{ text: value }] }, ...more }, message)
const textOf = (list: readonly RunEvent[]): string =>
  list
    .flatMap((event) =>
      event.kind === 'agent' && event.event.partial !== true ? (event.event.content?.parts ?? []) : [],
    )
    .map((part) => part.text ?? '')
    .join('')

describeDialect({ describe, expect, test }, planDialect, loadVectors('plan'))

describe('the plan-and-execute contract', () => {
  test('SSE Format: the example stream comes out to the byte', () => {
    const drafts = decode(sseReader().feed(seedStream))
    expect(encodeAll(planDialect, recorded(drafts)).map(printFrame).join('')).toBe(seedStream)
  })

  test('Chat: text is printed once, whether it streams or not, and done has no summary', () => {
    const list = [
      begun,
      text('Two ', { partial: true }),
      text('tasks.', { partial: true }),
      text('Two tasks.'),
      text('Really.', {}, 'm2'),
      ended,
    ]
    expect(printed(list)).toEqual([
      { type: 'content', content: 'Two ' },
      { type: 'content', content: 'tasks.' },
      { type: 'content', content: 'Really.' },
      { type: 'done' },
    ])
  })

  test('Execution: the summary of done is the fold of the tasks', () => {
    const task = (id: string): { id: string; title: string; status: 'pending'; order: number } => ({
      id,
      title: id,
      status: 'pending',
      order: 0,
    })
    const list: RunEvent[] = [
      begun,
      { kind: 'tasks', tasks: [task('a'), task('b'), task('c')] },
      { kind: 'task.started', task: 'a' },
      { kind: 'task.finished', task: 'a', status: 'done', result: '' },
      { kind: 'task.started', task: 'b' },
      { kind: 'task.finished', task: 'b', status: 'failed', result: 'no' },
      ended,
    ]
    expect(printed(list).at(-1)).toEqual({ type: 'done', summary: { total: 3, completed: 1, failed: 1 } })
  })

  test('a task that fails sends its error and its completion, once each', () => {
    const list: RunEvent[] = [
      begun,
      { kind: 'task.started', task: 'a' },
      { kind: 'task.finished', task: 'a', status: 'failed', result: 'no network' },
      { kind: 'task.started', task: 'b' },
      { ...said({ errorMessage: 'busy' }, 'm2'), task: 'b' } as RunEvent,
      { kind: 'task.finished', task: 'b', status: 'failed', result: 'busy' },
      ended,
    ]
    const wire = printed(list).filter(({ type }) => type === 'error' || type === 'task_completed')
    expect(wire).toEqual([
      { type: 'error', taskId: 'a', error: 'no network' },
      { type: 'task_completed', taskId: 'a', status: 'failed', result: 'no network' },
      { type: 'error', taskId: 'b', error: 'busy' },
      { type: 'task_completed', taskId: 'b', status: 'failed', result: 'busy' },
    ])
    const frames = encodeAll(planDialect, rows(list))
    expect(encodeAll(planDialect, rows(events(frames)))).toEqual(frames)
  })

  test('an execution that finds nothing to do still ends with a summary', () => {
    const execute: RunEvent = { kind: 'run.started', agent: 'a', input: { messages: [], props: { mode: 'execute' } } }
    const done = { id: 'a', title: 'a', status: 'done', order: 0 } as const
    expect(printed([{ kind: 'tasks', tasks: [done] }, execute, ended]).at(-1)).toEqual({
      type: 'done',
      summary: { total: 1, completed: 1, failed: 0 },
    })
  })

  test('a change of the tasks is printed as the whole list, as this wire has it', () => {
    const list: RunEvent[] = [
      begun,
      { kind: 'tasks', tasks: [{ id: 'a', title: 'A', status: 'done', order: 0, result: 'r' }] },
      {
        kind: 'tasks.changed',
        changes: [
          { task: 'b', title: 'B', order: 0 },
          { task: 'a', status: 'pending' },
        ],
      },
      { kind: 'tasks.changed', changes: [{ task: 'a', removed: true }] },
    ]
    const lists = printed(list).flatMap(({ tasks }) => (tasks === undefined ? [] : [tasks]))
    const b = { id: 'b', title: 'B', status: 'pending', order: 0, sessionId: expect.any(String) }
    expect(lists.slice(1)).toEqual([
      [b, { id: 'a', title: 'A', status: 'pending', order: 1, sessionId: expect.any(String) }],
      [b],
    ])
  })

  test('Error Recovery: a run that fails prints error, then its one done', () => {
    const error = { code: 'timeout', message: 'too slow' } as const
    const list: RunEvent[] = [begun, { kind: 'run.finished', outcome: 'failed', error }, ended]
    expect(printed(list)).toEqual([
      { type: 'error', error: 'too slow' },
      { type: 'done', problem: { code: 'timeout', message: 'too slow' } },
    ])
    expect(events(encodeAll(planDialect, rows(list))).at(-1)).toEqual({
      kind: 'run.finished',
      outcome: 'failed',
      error,
    })
    expect(printed([begun, { kind: 'run.finished', outcome: 'failed' }])[0]).toEqual({ type: 'error', error: 'failed' })
  })
})

describe('any log on this wire', () => {
  test('tools carry the task that is worked on, call ids where the log has them, and their output as text', () => {
    const list: RunEvent[] = [
      begun,
      { kind: 'task.started', task: 't' },
      said({ content: { parts: [{ functionCall: { id: 'adk-1', name: 'search', args: { q: 1 } } }] } }),
      said(
        { content: { parts: [{ functionResponse: { id: 'adk-1', name: 'search', response: { hits: [1] } } }] } },
        'm2',
      ),
      { kind: 'task.finished', task: 't', status: 'done', result: 'ok' },
      said({ content: { parts: [{ functionCall: { name: 'rest' } }] } }, 'm3', 'u'),
    ]
    expect(printed(list).filter(({ type }) => type === 'tool_call' || type === 'tool_result')).toEqual([
      { type: 'tool_call', taskId: 't', tool: 'search', input: { q: 1 }, callId: 'adk-1' },
      { type: 'tool_result', taskId: 't', tool: 'search', output: '{"hits":[1]}', callId: 'adk-1' },
      { type: 'tool_call', taskId: 'u', tool: 'rest', input: {} },
    ])
  })

  test('an error of the model belongs to its task, and never ends the run', () => {
    const list: RunEvent[] = [
      begun,
      said({ errorMessage: 'hiccup' }),
      { kind: 'task.started', task: 't' },
      said({ errorMessage: 'busy' }, 'm2'),
      ended,
    ]
    expect(printed(list).filter(({ type }) => type === 'error')).toEqual([
      { type: 'error', taskId: 't', error: 'busy' },
    ])
  })

  test('thoughts, users, logs and nodes have no place on this wire', () => {
    const list: RunEvent[] = [
      begun,
      said({ content: { parts: [{ text: 'hm', thought: true }] } }),
      text('mine', { author: 'user' }, 'u'),
      text('part of mine', { author: 'user', partial: true }, 'u2'),
      { kind: 'log', level: 'info', message: 'x' },
      { kind: 'node.started', node: 'a@1', agent: 'a' },
      { kind: 'node.finished', node: 'a@1', status: 'ok' },
      { kind: 'superseded', messages: ['m'], nodes: [] },
    ]
    expect(printed(list)).toEqual([])
    const edit = { seq: 1, at: 1, run: '', event: { kind: 'task.started', task: 't' } } as const
    expect(encodeAll(planDialect, [edit])).toEqual([])
    expect(planDialect.encoder({ session: 's' }).prelude()).toEqual([])
  })

  test('artifacts and data: the fields of the contract, and the version only where a reader could not count it', () => {
    const artifact = { kind: 'artifact', id: 'a', name: 'n', type: 'note' } as const
    const list: RunEvent[] = [
      begun,
      { ...artifact, version: 1 },
      { ...artifact, version: 2, task: 't' },
      { ...artifact, version: 7 },
      { ...artifact, version: 7, deleted: true },
      { kind: 'data', id: 'd', operation: 'delete', itemType: 'contact', item: null },
    ]
    expect(printed(list)).toEqual([
      { type: 'artifact_created', artifactId: 'a', name: 'n', artifactType: 'note' },
      { type: 'artifact_created', taskId: 't', artifactId: 'a', name: 'n', artifactType: 'note' },
      { type: 'artifact_created', artifactId: 'a', name: 'n', artifactType: 'note', version: 7 },
      { type: 'artifact_deleted', artifactId: 'a', name: 'n', artifactType: 'note', version: 7 },
      { type: 'data_modified', dataItemId: 'd', operation: 'delete', itemType: 'contact', item: null },
    ])
  })

  test('the waiting text of a run that never ended is printed before the next begins', () => {
    const first = rows([
      begun,
      text('a', { partial: true, branch: 'x' }),
      text('B', { partial: true, branch: 'y' }, 'm2'),
    ])
    const second = { seq: 9, at: 1, run: 'r2', event: begun }
    expect(encodeAll(planDialect, [...first, second]).map(({ data }) => JSON.parse(data).content)).toEqual(['a', 'B'])
  })
})

describe('hostile input', () => {
  test('a heartbeat is ignored, a frame that is too long is foreign', () => {
    expect(events([{ data: '', comment: 'ping' }])).toEqual([])
    expect(events([{ data: '{"type":"content"', truncated: true }])[1]).toMatchObject({
      kind: 'foreign',
      reason: 'the frame is too long',
    })
  })

  test('JSON 20,000 deep is foreign, 10 MB of text is text', () => {
    const deep = `{"type":"content","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    expect(events([{ data: deep }])[1]).toMatchObject({ kind: 'foreign' })
    const long = 'x'.repeat(10_000_000)
    expect(textOf(events([{ data: JSON.stringify({ type: 'content', content: long }) }]))).toBe(long)
  })

  test('no log throws', () => {
    fc.assert(
      fc.property(chaos(), (log) => {
        expect(() => decode(encodeAll(planDialect, log))).not.toThrow()
      }),
      { numRuns: 300 },
    )
  })

  test('parallel agents take turns, and every run keeps its outcome', () => {
    fc.assert(
      fc.property(sessions(), (some) => {
        const last = some.at(-1)!
        const log = last.event.kind === 'run.finished' ? some : [...some, { ...last, seq: last.seq + 1, event: ended }]
        const frames = encodeAll(planDialect, log)
        const list = events(frames)
        expect(list.filter(({ kind }) => kind === 'foreign')).toEqual([])
        const contents = frames.filter(({ event }) => event === 'content').map(({ data }) => JSON.parse(data).content)
        expect(textOf(list)).toBe(contents.join(''))
        const outcomes = (all: readonly RunEvent[]): string[] =>
          all.flatMap((event) => (event.kind === 'run.finished' ? [event.outcome] : []))
        expect(outcomes(list)).toEqual(outcomes(log.map(({ event }) => event)))
      }),
      { numRuns: 300 },
    )
  })
})
