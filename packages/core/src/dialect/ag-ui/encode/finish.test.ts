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
} from '../../../../../../test/kit/ag-ui-log.ts'
import { accepted, official } from '../../../../../../test/kit/ag-ui-official.ts'
import type { RunEvent } from '../../../event/run-event.ts'

describe('how a run ends', () => {
  test('failed: everything open is closed, then RUN_ERROR with the code of the source', async () => {
    const list = await printed([
      begin(),
      { kind: 'node.started', node: 'w@1', agent: 'w', parent: 'p' },
      delta('m1', 'half'),
      said('m2', [{ functionCall: { id: 'c', name: 'f', argsDelta: '{"a' } }], { partial: true }),
      end({ outcome: 'failed', error: { code: 'model-error', message: 'overloaded', source: '503' } }),
    ])
    expect(list.slice(-4)).toEqual([
      { type: 'TEXT_MESSAGE_END', messageId: 'm1' },
      { type: 'TOOL_CALL_END', toolCallId: 'c' },
      { type: 'SUBAGENT_FINISHED', subagentRunId: 'w@1' },
      { type: 'RUN_ERROR', message: 'overloaded', code: '503' },
    ])
    expect(
      await printed([begin(), end({ outcome: 'failed', error: { code: 'timeout', message: 'late' } })]),
    ).toContainEqual({ type: 'RUN_ERROR', message: 'late', code: 'timeout' })
    expect(await printed([begin(), end({ outcome: 'failed' })])).toContainEqual({
      type: 'RUN_ERROR',
      message: 'the run failed',
      code: 'internal',
    })
  })
  test('cancelled', async () => {
    expect((await printed([begin(), end({ outcome: 'cancelled' })])).at(-1)).toMatchObject({
      outcome: { type: 'cancelled' },
    })
  })
  test('waiting for a person: snapshots first, then the questions; subagents are suspended', async () => {
    const asks: RunEvent = {
      kind: 'interrupt',
      id: 'i1',
      reason: 'confirmation',
      message: 'Sure?',
      call: 'c1',
      schema: { type: 'object' },
      payload: { n: 1 },
      expiresAt: '2027-01-01T00:00:00Z',
      node: 'w@1',
    }
    const frames = framesOf(
      rowsOf([
        begin(),
        { kind: 'node.started', node: 'w@1', agent: 'w', parent: 'p' },
        said('m1', [call('c1', 'wipe')], { node: 'w@1', author: 'w' }),
        asks,
        { kind: 'interrupt', id: 'i2', reason: 'x' },
        { kind: 'resumed', interrupt: 'i2', status: 'resolved' },
        end({ outcome: 'interrupted' }),
      ]),
    )
    const list = (await accepted(frames)) as unknown as Record<string, unknown>[]
    expect(list.slice(-4)).toEqual([
      { type: 'SUBAGENT_FINISHED', subagentRunId: 'w@1', outcome: { type: 'suspended', interruptIds: ['i1'] } },
      { type: 'STATE_SNAPSHOT', snapshot: {} },
      {
        type: 'MESSAGES_SNAPSHOT',
        messages: [
          {
            id: 'm1',
            role: 'assistant',
            subagentRunId: 'w@1',
            toolCalls: [{ id: 'c1', type: 'function', function: { name: 'wipe', arguments: '{}' } }],
          },
        ],
      },
      {
        type: 'RUN_FINISHED',
        threadId: 's',
        runId: 'r',
        outcome: {
          type: 'interrupt',
          interrupts: [
            {
              id: 'i1',
              reason: 'confirmation',
              message: 'Sure?',
              toolCallId: 'c1',
              responseSchema: { type: 'object' },
              expiresAt: '2027-01-01T00:00:00Z',
              metadata: { payload: { n: 1 } },
              subagentRunId: 'w@1',
            },
          ],
        },
      },
    ])
    expect((await official(frames)).pendingInterrupts).toHaveLength(1)
  })
  test('after the answer: the call is not printed again, only its result', async () => {
    const list = await printed([
      begin(),
      said('m1', [call('c1')]),
      { kind: 'interrupt', id: 'i1', reason: 'confirmation', call: 'c1' },
      end({ outcome: 'interrupted' }),
      ...[
        begin({ resume: [{ interrupt: 'i1', status: 'resolved', payload: true }] }),
        { kind: 'resumed', interrupt: 'i1', status: 'resolved', payload: true } as const,
        said('m1', [call('c1')]),
        said('m2', [answer('c1', { ok: 1 })]),
        end(),
      ].map((event) => ({ run: 'r2', event })),
    ])
    expect(list.slice(-3)).toMatchObject([
      { type: 'RUN_STARTED', input: { resume: [{ interruptId: 'i1', status: 'resolved', payload: true }] } },
      { type: 'TOOL_CALL_RESULT', toolCallId: 'c1' },
      { type: 'RUN_FINISHED' },
    ])
  })
  test('a call of a client’s own tool is pending, and no interrupt', async () => {
    const list = await printed([
      begin({ tools: [{ name: 'paint', description: '' }] }),
      said('m1', [call('c1', 'paint')]),
      { kind: 'interrupt', id: 'i1', reason: 'tool_call', call: 'c1' },
      end({ outcome: 'interrupted' }),
    ])
    expect(list.at(-1)).toEqual({
      type: 'RUN_FINISHED',
      threadId: 's',
      runId: 'r',
      outcome: { type: 'success', pendingToolCallIds: ['c1'] },
    })
  })
  test('tokens: as the engine counted, with thinking in the output; otherwise as the models reported, by model', async () => {
    const usage = { inputTokens: 98, outputTokens: 5, totalTokens: 126, reasoningTokens: 23, modelCalls: 1 }
    expect((await printed([begin(), end({ usage })])).at(-1)).toMatchObject({
      usage: [{ inputTokens: 98, outputTokens: 28, totalTokens: 126, reasoningTokens: 23 }],
    })
    const counted = (model: string, prompt: number, partial = false) =>
      said(`m${model}`, [], {
        modelVersion: model,
        partial,
        usageMetadata: {
          promptTokenCount: prompt,
          candidatesTokenCount: 2,
          thoughtsTokenCount: 3,
          totalTokenCount: prompt + 5,
          cachedContentTokenCount: 1,
        },
      })
    const list = await printed([
      begin(),
      counted('a', 10, true),
      counted('a', 10),
      counted('a', 20),
      counted('b', 1),
      end(),
    ])
    expect(list.at(-1)).toMatchObject({
      usage: [
        { model: 'a', inputTokens: 30, outputTokens: 10, totalTokens: 40, reasoningTokens: 6, cachedInputTokens: 2 },
        { model: 'b', inputTokens: 1, outputTokens: 5, totalTokens: 6, reasoningTokens: 3, cachedInputTokens: 1 },
      ],
    })
  })
  test('a run that never ended is ended when the next begins, and its own late end is not printed', async () => {
    const list = await printed([
      begin(),
      delta('m1', 'x'),
      { run: 'r2', event: begin() },
      { run: 'r', event: end() },
      { run: 'r2', event: begin() },
      { run: 'r2', event: end() },
      { run: 'r2', event: end() },
    ])
    expect(list.map(({ type, runId }) => [type, runId].filter(Boolean).join(' '))).toEqual([
      'RUN_STARTED r',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_ERROR',
      'RUN_STARTED r2',
      'RUN_FINISHED r2',
    ])
  })
  test('a fork and a branch name their origin; a run without a start gets one', async () => {
    expect((await printed([begin({}, { parent: 'r0', forkOf: { session: 'a', seq: 7 } }), end()]))[0]).toEqual({
      type: 'RUN_STARTED',
      threadId: 's',
      runId: 'r',
      parentRunId: 'r0',
      metadata: { millrace: { forkOf: { session: 'a', seq: 7 } } },
    })
    expect((await printed([said('m1', [{ text: 'x' }])]))[0]).toEqual({
      type: 'RUN_STARTED',
      threadId: 's',
      runId: 'r',
    })
  })
})

describe('messages that no longer count', () => {
  test('are closed, and removed by a snapshot: text, thoughts, calls and results', async () => {
    const frames = framesOf(
      rowsOf([
        begin(),
        said('m0', [{ text: 'kept' }]),
        thought('m1', 'half a thought'),
        delta('m2', 'half'),
        said('m3', [call('c1')]),
        said('m4', [{ functionCall: { id: 'c2', name: 'f', argsDelta: '{' } }], { partial: true }),
        said('m5', [answer('c1', { ok: 1 })]),
        { kind: 'superseded', messages: ['m1', 'm2', 'm3', 'm4', 'm5', 'unknown'], nodes: ['unknown'] },
        said('m6', [{ text: 'whole' }]),
        end(),
      ]),
    )
    const { messages } = await official(frames)
    // A client keeps its last reasoning message even if a snapshot omits it, so it is emptied.
    expect(messages).toEqual([
      { id: 'm0', role: 'assistant', content: 'kept' },
      { id: 'm1:reasoning', role: 'reasoning', content: '' },
      { id: 'm6', role: 'assistant', content: 'whole' },
    ])
  })
})
