import { describe, expect, test } from 'vitest'
import type { AgUiEvent } from '../wire.ts'
import { downgrade } from './downgrade.ts'

/** The last event that each one becomes; a question before it has a test of its own. */
function lastOf() {
  const { push, repeat } = downgrade()
  return { push: (event: AgUiEvent) => push(event).at(-1), repeat: (event: AgUiEvent) => repeat(event).at(-1) }
}

describe('for a client before 1.0', () => {
  test('an input has tools and context, files are binary, and a result is text', () => {
    const image = { type: 'image', source: { type: 'data', value: 'aGk=', mimeType: 'image/png' } }
    const video = { type: 'video', source: { type: 'url', value: 'https://example.org/v' } }
    const file = { type: 'document', source: { type: 'file', value: 'f-1', mimeType: 'text/plain' } }
    const words = { type: 'text', text: 'Look' }
    const messages = [
      { id: '1', role: 'user', content: [words, image, video, file] },
      { id: '2', role: 'tool', toolCallId: 'c', content: [words, image], subagentRunId: 's' },
      { id: '3', role: 'tool', toolCallId: 'd', content: [image] },
    ]
    const made = lastOf().push({ type: 'RUN_STARTED', input: { threadId: 't', runId: 'r', messages } })
    expect(made?.input).toEqual({
      threadId: 't',
      runId: 'r',
      tools: [],
      context: [],
      messages: [
        {
          id: '1',
          role: 'user',
          content: [
            words,
            { type: 'binary', mimeType: 'image/png', data: 'aGk=' },
            { type: 'binary', mimeType: 'application/octet-stream', url: 'https://example.org/v' },
            { type: 'binary', mimeType: 'text/plain', id: 'f-1' },
          ],
        },
        { id: '2', role: 'tool', toolCallId: 'c', content: 'Look' },
        { id: '3', role: 'tool', toolCallId: 'd', content: JSON.stringify([image]) },
      ],
    })
  })

  test('of the outcomes only an interrupt is printed; a cancelled run has a note in its metadata', () => {
    const end = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
    const { push } = lastOf()
    expect(push({ ...end, outcome: { type: 'success', pendingToolCallIds: ['c'] } })).toEqual(end)
    const metadata = { a: 1, millrace: { outcome: 'cancelled' } }
    expect(push({ ...end, outcome: { type: 'cancelled' }, metadata: { a: 1 } })).toEqual({ ...end, metadata })
    const asked = { id: 'i', reason: 'confirmation' }
    expect(push({ ...end, outcome: { type: 'interrupt', interrupts: [{ ...asked, subagentRunId: 's' }] } })).toEqual({
      ...end,
      outcome: { type: 'interrupt', interrupts: [asked] },
    })
  })

  test('a question also comes as the custom event of LangGraph, once', () => {
    const end = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
    const asked = [
      { id: 'i', reason: 'confirmation', message: 'Sure?', metadata: { payload: { tool: 'f' } } },
      { id: 'j', reason: 'input_required', message: 'Name?' },
    ]
    const finished = { ...end, outcome: { type: 'interrupt', interrupts: asked } }
    const { push, repeat } = downgrade()
    const questions = [
      { type: 'CUSTOM', name: 'on_interrupt', value: '{"message":"Sure?","tool":"f"}' },
      { type: 'CUSTOM', name: 'on_interrupt', value: 'Name?' },
    ]
    expect(push(finished)).toEqual([...questions, finished])
    expect(repeat(finished)).toEqual([...questions, finished])
    push({ type: 'RUN_STARTED' })
    push({ type: 'CUSTOM', name: 'on_interrupt', value: 'Sure?' })
    expect(push(finished)).toEqual([finished])
  })

  test('where a client wants the event alone, the outcome has no question', () => {
    const end = { type: 'RUN_FINISHED', threadId: 't', runId: 'r' }
    const asked = [{ id: 'i', reason: 'input_required', message: 'Name?', metadata: { payload: 'Name?' } }]
    const finished = { ...end, outcome: { type: 'interrupt', interrupts: asked } }
    const { push, repeat } = downgrade('custom')
    const told = [
      { type: 'CUSTOM', name: 'on_interrupt', value: 'Name?' },
      { ...end, metadata: { millrace: { outcome: 'interrupted' } } },
    ]
    expect(push(finished)).toEqual(told)
    expect(repeat(finished)).toEqual(told)
    expect(push({ ...end, outcome: { type: 'success' } })).toEqual([end])
  })

  test('subagents are steps, each with a name that no open step has, also for a reader that joins', () => {
    const { push, repeat } = lastOf()
    const start = (subagentRunId: string) => ({ type: 'SUBAGENT_STARTED', subagentRunId, name: 'a' })
    push({ type: 'RUN_STARTED' })
    expect(push({ type: 'STEP_STARTED', stepName: 'a' })).toMatchObject({ stepName: 'a' })
    expect(push(start('s1'))).toEqual({
      type: 'STEP_STARTED',
      stepName: 'a@2',
      metadata: { millrace: { subagent: { subagentRunId: 's1', name: 'a' } } },
    })
    const inside = { stepName: 'a', subagentRunId: 's1' }
    expect(push({ type: 'STEP_STARTED', ...inside })).toEqual({ type: 'STEP_STARTED', stepName: 'a@3' })
    repeat({ type: 'RUN_STARTED' })
    expect(repeat(start('s1'))).toMatchObject({ type: 'STEP_STARTED', stepName: 'a@2' })
    expect(push({ type: 'STEP_FINISHED', ...inside })).toEqual({ type: 'STEP_FINISHED', stepName: 'a@3' })
    expect(push({ type: 'SUBAGENT_ERROR', subagentRunId: 's1', message: 'no' })).toEqual({
      type: 'STEP_FINISHED',
      stepName: 'a@2',
      metadata: { millrace: { subagent: { subagentRunId: 's1', error: { message: 'no' } } } },
    })
    expect(push({ type: 'STEP_FINISHED', stepName: 'a' })).toEqual({ type: 'STEP_FINISHED', stepName: 'a' })
    expect(push(start('s2'))).toMatchObject({ stepName: 'a' })
  })

  test('a call keeps its parent only if that is the last message', () => {
    const { push } = lastOf()
    const call = { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f', parentMessageId: 'm1' }
    push({ type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' })
    expect(push(call)).toEqual(call)
    push({ type: 'TEXT_MESSAGE_START', messageId: 'm2', role: 'assistant' })
    expect(push({ ...call, toolCallId: 'd' })).toEqual({ type: 'TOOL_CALL_START', toolCallId: 'd', toolCallName: 'f' })
    const free = { ...call, toolCallId: 'e', parentMessageId: 'm3' }
    expect(push(free)).toEqual(free)
  })
})
