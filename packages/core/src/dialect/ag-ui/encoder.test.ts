import { describe, expect, test } from 'vitest'
import {
  answer,
  begin,
  call,
  delta,
  end,
  framesOf,
  printed,
  rowsOf,
  said,
  thought,
} from '../../../../../test/kit/ag-ui-log.ts'
import { accepted, official } from '../../../../../test/kit/ag-ui-official.ts'
import type { AdkEvent } from '../../event/adk-event.ts'
import type { RunEvent } from '../../event/run-event.ts'
import { agUi } from './index.ts'

describe('the simple case is the documented response format, byte for byte', () => {
  const flow: RunEvent[] = [
    begin({ messages: [{ id: '1', role: 'user', content: { role: 'user', parts: [{ text: 'Hello' }] } }] }),
    { kind: 'node.started', node: 'assistant@1', agent: 'assistant' },
    said('e0', [], { actions: { stateDelta: { proverbs: [] } } }),
    ...['Hello', '!', ' How', ' can I help you?'].map((text) => delta('msg-abc', text, { node: 'assistant@1' })),
    said('msg-abc', [{ text: 'Hello! How can I help you?' }], {
      node: 'assistant@1',
      finishReason: 'STOP',
      turnComplete: true,
    }),
    { kind: 'node.finished', node: 'assistant@1', status: 'ok' },
    end(),
  ]
  test('Example Complete Flow, from a log that an ADK agent wrote', () => {
    const rows = flow.map((event, i) => ({ seq: i + 1, at: i, run: 'run-456', event }))
    expect(framesOf(rows, { session: 'test-123', echo: false }).map(({ data }) => data)).toEqual([
      '{"type":"RUN_STARTED","threadId":"test-123","runId":"run-456"}',
      '{"type":"STATE_DELTA","delta":[{"op":"add","path":"/proverbs","value":[]}]}',
      '{"type":"TEXT_MESSAGE_START","messageId":"msg-abc","role":"assistant"}',
      '{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-abc","delta":"Hello"}',
      '{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-abc","delta":"!"}',
      '{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-abc","delta":" How"}',
      '{"type":"TEXT_MESSAGE_CONTENT","messageId":"msg-abc","delta":" can I help you?"}',
      '{"type":"TEXT_MESSAGE_END","messageId":"msg-abc"}',
      '{"type":"STATE_SNAPSHOT","snapshot":{"proverbs":[]}}',
      '{"type":"RUN_FINISHED","threadId":"test-123","runId":"run-456"}',
    ])
  })
  test('a replay also has the input of the run', async () => {
    const [start] = await printed(flow)
    expect(start).toEqual({
      type: 'RUN_STARTED',
      threadId: 's',
      runId: 'r',
      input: { threadId: 's', runId: 'r', messages: [{ id: '1', role: 'user', content: 'Hello' }] },
    })
  })
})

describe('state', () => {
  const wrote = (stateDelta: AdkEvent['actions'] & object) =>
    said(`w${Object.keys(stateDelta).join()}`, [], { actions: { stateDelta: stateDelta as never } })
  test('adds new keys, replaces existing ones, leaves out temp:, escapes keys, and ends with a snapshot', async () => {
    const list = await printed([
      begin(),
      wrote({ a: 1, 'temp:x': 1 }),
      wrote({ a: 2, 'b/~c': null }),
      wrote({ a: 2 }),
      end(),
    ])
    expect(
      list.filter(({ type }) => String(type).startsWith('STATE')).map(({ delta: ops, snapshot }) => ops ?? snapshot),
    ).toEqual([
      [{ op: 'add', path: '/a', value: 1 }],
      [
        { op: 'replace', path: '/a', value: 2 },
        { op: 'add', path: '/b~1~0c', value: null },
      ],
      { a: 2, 'b/~c': null },
    ])
  })
  test('a removal is a removal', async () => {
    const list = await printed([
      begin(),
      wrote({ a: 1 }),
      { kind: 'state', patch: [{ op: 'remove', path: '/a' }] },
      end(),
    ])
    expect(list[2]).toEqual({ type: 'STATE_DELTA', delta: [{ op: 'remove', path: '/a' }] })
    expect(list[3]).toEqual({ type: 'STATE_SNAPSHOT', snapshot: {} })
  })
  test('a run begins with the state that its client did not send', async () => {
    const second = { run: 'r2', event: begin({ state: { a: 1 } }) }
    const list = [begin(), wrote({ a: 1 }), end()]
    const known = await printed([...list, second, { run: 'r2', event: end() }])
    expect(known.slice(-2).map(({ type }) => type)).toEqual(['RUN_STARTED', 'RUN_FINISHED'])
    const unknown = await printed([...list, { run: 'r2', event: begin() }, { run: 'r2', event: end() }])
    expect(unknown.slice(-2)).toMatchObject([{ type: 'STATE_SNAPSHOT', snapshot: { a: 1 } }, { type: 'RUN_FINISHED' }])
  })
  test('changes between runs are printed when the next run begins', async () => {
    const outside: RunEvent[] = [
      { kind: 'state', patch: [{ op: 'add', path: '/edited', value: true }] },
      { kind: 'task.started', task: 't1' },
      { kind: 'superseded', messages: ['m1'], nodes: [] },
    ]
    const list = await printed([
      begin(),
      said('m1', [{ text: 'x' }]),
      end(),
      ...outside.map((event) => ({ run: '', event })),
      { run: 'r2', event: begin() },
      { run: 'r2', event: end() },
    ])
    expect(list.slice(5)).toEqual([
      { type: 'RUN_STARTED', threadId: 's', runId: 'r2' },
      { type: 'MESSAGES_SNAPSHOT', messages: [] },
      { type: 'STATE_SNAPSHOT', snapshot: { edited: true } },
      { type: 'CUSTOM', name: 'millrace.task.started', value: { task: 't1' } },
      { type: 'RUN_FINISHED', threadId: 's', runId: 'r2' },
    ])
  })
  test('a patch that the official schema refuses is printed as a CUSTOM event', async () => {
    const list = await printed([begin(), { kind: 'state', patch: [{ op: 'add', path: 'no-slash', value: 1 }] }, end()])
    expect(list[1]).toEqual({
      type: 'CUSTOM',
      name: 'millrace.state',
      value: { patch: [{ op: 'add', path: 'no-slash', value: 1 }] },
    })
  })
})

describe('facts', () => {
  test('each is a CUSTOM event of a stable name, by node where it has one, and comes back', async () => {
    const facts: RunEvent[] = [
      { kind: 'tasks', tasks: [{ id: 't1', title: 'x', status: 'pending', order: 0 }] },
      { kind: 'tasks.changed', changes: [{ task: 't1', title: 'y' }] },
      { kind: 'task.finished', task: 't1', status: 'done', result: 'ok' },
      { kind: 'task.reflected', task: 't1', text: 'good' },
      { kind: 'artifact', id: 'a', name: 'n', type: 'note', version: 1, part: { text: 'x' } },
      { kind: 'data', id: 'd', operation: 'delete', itemType: 'contact' },
      { kind: 'log', level: 'info', message: 'hi', node: 'w' },
      { kind: 'foreign', dialect: 'studio', raw: 'x', reason: 'y' },
      { kind: 'resumed', interrupt: 'i', status: 'cancelled' },
    ]
    const frames = framesOf(rowsOf([begin(), ...facts, end()]))
    await accepted(frames)
    expect(
      frames
        .map((frame) => JSON.parse(frame.data))
        .flatMap(({ name, subagentRunId }) => (name === undefined ? [] : [[name, subagentRunId].join(' ').trim()])),
    ).toEqual([
      'millrace.tasks',
      'millrace.tasks.changed',
      'millrace.task.finished',
      'millrace.task.reflected',
      'millrace.artifact',
      'millrace.data',
      'millrace.log w',
      'millrace.foreign',
      'millrace.resumed',
    ])
    const decoder = agUi.decoder({ run: 'r' })
    const drafts = frames.flatMap((frame) => decoder.push(frame))
    expect(drafts.slice(1, -1).map(({ event }) => event)).toEqual(facts)
  })
  test('the task of a message is in its metadata', async () => {
    const list = await printed([
      begin(),
      said('m1', [{ text: 'x' }], { task: 't1' }),
      said('m2', [call('c1')], { task: 't1' }),
      said('m3', [answer('c1')], { task: 't1' }),
      end(),
    ])
    const noted = list.filter(({ metadata }) => metadata !== undefined)
    expect(noted.map(({ type }) => type)).toEqual(['TEXT_MESSAGE_START', 'TOOL_CALL_START', 'TOOL_CALL_RESULT'])
    expect(noted[0]?.metadata).toEqual({ millrace: { task: 't1' } })
  })
  test('SPEC 3.1: what cannot be printed does not end the stream', () => {
    let deep: unknown = 1
    for (let i = 0; i < 20_000; i++) deep = [deep]
    const rows = rowsOf([
      begin({ state: { deep } as never }),
      said('m1', [call('c1', 'f', { deep })]),
      said('m2', [answer('c1', { deep })]),
      { kind: 'log', level: 'info', message: '', data: deep as never },
      end(),
    ])
    expect(() => framesOf(rows)).not.toThrow()
  })
})

describe('a reader that joins late', () => {
  const prelude = (list: readonly RunEvent[]) => {
    const encoder = agUi.encoder({ session: 's' })
    for (const row of rowsOf(list)) encoder.push(row)
    return encoder.prelude().map((frame) => JSON.parse(frame.data))
  }
  test('gets nothing before the first run', () => expect(prelude([])).toEqual([]))
  test('in the middle of a run: gets the conversation, the state, and the open messages opened again', () => {
    const list: RunEvent[] = [
      begin({ messages: [{ id: 'u', role: 'user', content: { parts: [{ text: 'Hi' }] } }] }),
      { kind: 'node.started', node: 'w@1', agent: 'w', parent: 'p' },
      { kind: 'node.started', node: 'step@1', agent: 'step' },
      thought('m1', 'hm', { node: 'w@1', author: 'w' }),
      delta('m2', 'Hel', { node: 'w@1', author: 'w' }),
      said('m3', [{ functionCall: { id: 'c', name: 'f', argsDelta: '{"a"' } }], { partial: true }),
      { kind: 'state', patch: [{ op: 'add', path: '/a', value: 1 }] },
    ]
    expect(prelude(list)).toEqual([
      { type: 'RUN_STARTED', threadId: 's', runId: 'r' },
      {
        type: 'MESSAGES_SNAPSHOT',
        messages: [
          { id: 'u', role: 'user', content: 'Hi' },
          { id: 'm1:reasoning', role: 'reasoning', content: 'hm', subagentRunId: 'w@1' },
          { id: 'm2', role: 'assistant', content: 'Hel', subagentRunId: 'w@1' },
          {
            id: 'm3',
            role: 'assistant',
            toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a"' } }],
          },
        ],
      },
      { type: 'STATE_SNAPSHOT', snapshot: { a: 1 } },
      { type: 'SUBAGENT_STARTED', subagentRunId: 'w@1', name: 'w' },
      { type: 'STEP_STARTED', stepName: 'step' },
      { type: 'REASONING_START', messageId: 'm1:reasoning', subagentRunId: 'w@1' },
      { type: 'REASONING_MESSAGE_START', messageId: 'm1:reasoning', role: 'reasoning', subagentRunId: 'w@1' },
      { type: 'TEXT_MESSAGE_START', messageId: 'm2', role: 'assistant', subagentRunId: 'w@1' },
      { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f', parentMessageId: 'm3' },
    ])
  })
  test('between runs: gets the last run, complete and ended, with its open questions', async () => {
    const list: RunEvent[] = [
      begin(),
      said('m1', [{ text: 'x' }]),
      { kind: 'interrupt', id: 'i', reason: 'input_required' },
      end({ outcome: 'interrupted' }),
    ]
    const encoder = agUi.encoder({ session: 's' })
    for (const row of rowsOf(list)) encoder.push(row)
    const client = await official(encoder.prelude())
    expect(client.pendingInterrupts).toEqual([{ id: 'i', reason: 'input_required' }])
    expect(client.messages).toHaveLength(1)
  })
})
