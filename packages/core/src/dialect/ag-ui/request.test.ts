import { RunAgentInputSchema } from '@ag-ui/core/schemas'
import { describe, expect, test } from 'vitest'
import type { Recorded, RunInput } from '../../event/run-event.ts'
import { echoOf, readRunAgentInput } from './input.ts'
import { toRunAgentInput } from './request.ts'

const user = (id: string, text: string) => ({ id, role: 'user', content: { role: 'user', parts: [{ text }] } })

describe('a request is written', () => {
  const input: RunInput = {
    messages: [
      {
        id: 'u1',
        role: 'user',
        content: {
          role: 'user',
          parts: [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: 'AA', displayName: 'a.png' } }],
        },
        name: 'alice',
      },
      { id: 's1', role: 'system', content: { parts: [{ text: 'Be brief.' }] } },
      {
        id: 'a1',
        role: 'assistant',
        content: {
          role: 'model',
          parts: [{ text: 'Yes', thoughtSignature: 's' }, { functionCall: { id: 'c', name: 'f', args: { a: 1 } } }],
        },
      },
      { id: 'a2', role: 'assistant', content: { role: 'model', parts: [{ text: 'hm', thought: true }] } },
      {
        id: 't1',
        role: 'tool',
        content: { role: 'user', parts: [{ functionResponse: { id: 'c', name: 'f', response: { ok: true } } }] },
      },
    ],
    state: { a: 1 },
    tools: [{ name: 'set', description: 'sets' }],
    context: [{ description: 'd', value: 'v' }],
    resume: [{ interrupt: 'i', status: 'resolved', payload: 1 }],
    props: { x: 1 },
  }
  test('the echo is what was read, and the official schema accepts it', () => {
    const echo = echoOf('t', 'r', input)
    expect(RunAgentInputSchema.safeParse(echo).error).toBeUndefined()
    expect(readRunAgentInput(echo)).toEqual({
      threadId: 't',
      runId: 'r',
      protocol: '0',
      input: {
        ...input,
        messages: input.messages.map((m) => (m.id === 's1' ? { ...m, content: { role: 'user', ...m.content } } : m)),
      },
    })
    expect(echoOf('t', 'r', { messages: [] })).toBeUndefined()
  })
  test('the results of several tools are one message each', () => {
    const response = (id: string) => ({ functionResponse: { id, name: 'f', response: { result: id } } })
    const many: RunInput = { messages: [{ id: 't', role: 'tool', content: { parts: [response('a'), response('b')] } }] }
    expect(echoOf('t', 'r', many)?.messages).toEqual([
      { id: 't', role: 'tool', content: 'a', toolCallId: 'a' },
      { id: 't:1', role: 'tool', content: 'b', toolCallId: 'b' },
    ])
  })

  const history: Recorded[] = [
    { run: 'r1', event: { kind: 'run.started', agent: 'a', input: { messages: [user('u0', 'Hi') as never] } } },
    {
      run: 'r1',
      event: {
        kind: 'agent',
        message: 'm0',
        event: {
          id: 'm0',
          author: 'b',
          invocationId: 'i',
          timestamp: 1,
          content: {
            parts: [
              { text: 'think', thought: true },
              { text: 'Hello' },
              { inlineData: { mimeType: 'image/png', data: 'AA' } },
            ],
          },
        },
        node: 'x',
      },
    },
    { run: 'r1', event: { kind: 'run.finished', outcome: 'done' } },
  ].map((row, i) => ({ ...row, seq: i + 1, at: i }) as Recorded)

  test('for a server without memory: the whole conversation, and every field that 0.x demands', () => {
    const body = toRunAgentInput({
      threadId: 't',
      runId: 'r2',
      parentRunId: 'r1',
      input: { messages: [user('u1', 'Again') as never] },
      history,
      state: { n: 1 },
    })
    expect(body).toEqual({
      threadId: 't',
      runId: 'r2',
      parentRunId: 'r1',
      state: { n: 1 },
      messages: [
        { id: 'u0', role: 'user', content: 'Hi' },
        { id: 'm0:reasoning', role: 'reasoning', content: 'think', subagentRunId: 'x' },
        { id: 'm0', role: 'assistant', content: 'Hello', name: 'b', subagentRunId: 'x' },
        { id: 'u1', role: 'user', content: 'Again' },
      ],
      tools: [],
      context: [],
      forwardedProps: {},
    })
    expect(RunAgentInputSchema.safeParse(body).error).toBeUndefined()
  })
  test('for a 0.x server: no field or role of 1.0', () => {
    const body = toRunAgentInput({ threadId: 't', runId: 'r2', input, history, legacy: true })
    expect(body.messages.map(({ id }) => id)).toEqual(['u0', 'm0', 'u1', 's1', 'a1', 't1'])
    expect(body.messages[1]).toEqual({ id: 'm0', role: 'assistant', content: 'Hello', name: 'b' })
    expect(body.messages[4]).toEqual({
      id: 'a1',
      role: 'assistant',
      content: 'Yes',
      toolCalls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
    })
    expect(body).toMatchObject({
      state: { a: 1 },
      resume: [{ interruptId: 'i', status: 'resolved', payload: 1 }],
      forwardedProps: { x: 1 },
    })
  })
  test('a message that is already in the history is not sent twice', () => {
    const body = toRunAgentInput({
      threadId: 't',
      runId: 'r2',
      input: { messages: [user('u0', 'Hi') as never] },
      history,
    })
    expect(body.messages.filter(({ id }) => id === 'u0')).toHaveLength(1)
  })
})
