import { AIMessage, AIMessageChunk, HumanMessage } from '@langchain/core/messages'
import { MemorySaver } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { keepEditedCalls } from './edited-calls.ts'

// What a saver with LangChain's own serializer reads back of the calls of a model that streamed.

const piece = (index: number, id: string, args: string) =>
  ({ type: 'tool_call_chunk', name: 'send', index, id, args }) as const
const streamed = () =>
  new AIMessageChunk({
    content: '',
    tool_call_chunks: [piece(0, 'c1', '{ "to":"ann" }'), piece(1, 'c2', '{"to":"bob"}')],
  })
const call = (id: string, to: string) => ({ type: 'tool_call' as const, id, name: 'send', args: { to } })

const { serde } = new MemorySaver()
const reread = async (message: AIMessage | AIMessageChunk): Promise<AIMessageChunk> =>
  (await serde.loadsTyped(...(await serde.dumpsTyped(message)))) as AIMessageChunk

/** The ways in which a saver gets a message. */
const places: readonly (readonly [string, (message: unknown) => unknown])[] = [
  ['a checkpoint', (message) => ({ channel_values: { count: 1, messages: [new HumanMessage('hi'), message] } })],
  [
    'the writes of a task',
    (message) => [
      ['count', 1],
      ['messages', [message]],
    ],
  ],
  ['a write of one message', (message) => [['messages', message]]],
]

describe.each(places)('in %s', (_, stored) => {
  test.each([
    ['edited', [call('c1', 'cat'), call('c2', 'bob')]],
    ['taken out', [call('c2', 'bob')]],
    ['all taken out', []],
    ['given no id', [{ ...call('c1', 'cat'), id: undefined }]],
  ])('calls that were %s stay so', async (_what, calls) => {
    const message = streamed()
    Object.assign(message, { tool_calls: calls })
    await keepEditedCalls(stored(message))
    expect((await reread(message)).tool_calls).toEqual(calls)
  })

  test('a call whose arguments were changed in place stays so', async () => {
    const message = streamed()
    Object.assign(message.tool_calls?.[0]?.args ?? {}, { to: 'cat' })
    await keepEditedCalls(stored(message))
    expect((await reread(message)).tool_calls).toEqual([call('c1', 'cat'), call('c2', 'bob')])
  })
})

test('a message that nobody edited keeps the pieces in which it came', async () => {
  const message = streamed()
  await keepEditedCalls([['messages', [message]]])
  expect((await reread(message)).tool_call_chunks).toEqual(streamed().tool_call_chunks)
})

test('a message of a model that does not stream, and what is no message, are left as they are', async () => {
  const message = new AIMessage({ content: '', tool_calls: [call('c1', 'ann')] })
  const data = { tool_calls: [], tool_call_chunks: [piece(0, 'c1', '{}')] }
  await keepEditedCalls([
    ['messages', [message]],
    ['data', data],
  ])
  expect(message.tool_calls).toEqual([call('c1', 'ann')])
  expect(data.tool_call_chunks).toHaveLength(1)
})
