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
  types,
} from '../../../../../../test/kit/ag-ui-log.ts'
import { official } from '../../../../../../test/kit/ag-ui-official.ts'
import type { AdkPart } from '../../../event/adk-event.ts'

describe('text', () => {
  test('an aggregate without deltas is a whole message; with deltas only its end', async () => {
    expect(await types(begin(), said('m1', [{ text: 'Hi' }]), end())).toEqual([
      'RUN_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ])
  })
  test('SPEC 1.4: two messages with the same text are printed twice, also by one author', async () => {
    const frames = framesOf(
      rowsOf([
        begin(),
        delta('m1', 'Yes'),
        said('m1', [{ text: 'Yes' }]),
        said('m2', [{ text: 'Yes' }]),
        said('m3', [{ text: 'Yes' }], { author: 'other' }),
        end(),
      ]),
    )
    const { messages } = await official(frames)
    expect(messages).toEqual([
      { id: 'm1', role: 'assistant', content: 'Yes' },
      { id: 'm2', role: 'assistant', content: 'Yes' },
      { id: 'm3', role: 'assistant', content: 'Yes', name: 'other' },
    ])
  })
  test('the aggregate counts: missing text follows, wrong text is corrected by a snapshot', async () => {
    const missing = await printed([begin(), delta('m1', 'Hel'), said('m1', [{ text: 'Hello' }]), end()])
    expect(missing.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT').map(({ delta: text }) => text)).toEqual([
      'Hel',
      'lo',
    ])
    const wrong = framesOf(
      rowsOf([
        begin(),
        delta('m1', 'Helo'),
        thought('m1', 'no'),
        said('m1', [{ text: 'yes', thought: true }, { text: 'Hello' }]),
        end(),
      ]),
    )
    const client = await official(wrong)
    expect(client.messages.map(({ content }) => content)).toEqual(['Hello', 'yes'])
  })
  test('the same aggregate delivered twice is printed once', async () => {
    const whole = said('m1', [{ text: 'Hi' }, call('c1')])
    const client = await official(framesOf(rowsOf([begin(), whole, whole, end()])))
    expect(client.messages).toHaveLength(1)
    expect(client.messages[0]?.content).toBe('Hi')
  })
  test('an event without text, by which ADK ends its streams, is no message', async () => {
    expect(await types(begin(), said('m1', []), said('m2', [{ text: '' }]), end())).toEqual([
      'RUN_STARTED',
      'RUN_FINISHED',
    ])
  })
  test('a message of a user or a system keeps its role', async () => {
    const list = await printed([
      begin(),
      said('m1', [{ text: 'a' }], { author: 'user' }),
      {
        kind: 'agent',
        message: 'm2',
        event: {
          id: 'x',
          author: 'system',
          invocationId: '',
          timestamp: 0,
          content: { role: 'system', parts: [{ text: 'b' }] },
        },
      },
      end(),
    ])
    expect(list.flatMap(({ role }) => role ?? [])).toEqual(['user', 'system'])
  })
  test('the finish reason, unless it is normal, and the grounding are in the metadata', async () => {
    const grounded = said('m1', [{ text: 'x' }], {
      finishReason: 'MAX_TOKENS',
      groundingMetadata: { webSearchQueries: ['q'] },
    })
    const list = await printed([begin(), grounded, end()])
    expect(list.find(({ type }) => type === 'TEXT_MESSAGE_END')).toMatchObject({
      metadata: { finishReason: 'MAX_TOKENS', groundingMetadata: { webSearchQueries: ['q'] } },
    })
  })
  test('an error that an agent reports is printed even when the run goes on', async () => {
    const list = await printed([begin(), said('m1', [], { errorCode: '429', errorMessage: 'too many' }), end()])
    expect(list[1]).toEqual({
      type: 'CUSTOM',
      name: 'millrace.log',
      value: { level: 'error', message: 'too many', data: { author: 'assistant', code: '429' } },
    })
  })
})

describe('thoughts', () => {
  const ids = ({ messageId }: Record<string, unknown>) => messageId
  test('are closed when text follows or the run ends, and are not repeated by the aggregate', async () => {
    expect(
      await types(
        begin(),
        thought('m1', 'hm'),
        delta('m1', 'Yes'),
        said('m1', [{ text: 'hm', thought: true }, { text: 'Yes' }]),
        thought('m2', 'and'),
        end(),
      ),
    ).toEqual([
      'RUN_STARTED',
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
      'REASONING_END',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
      'REASONING_END',
      'RUN_FINISHED',
    ])
  })
  test('before and after a tool call are two messages', async () => {
    const list = await printed([
      begin(),
      thought('m1', 'A'),
      said('m1', [{ text: 'A', thought: true }, call('c1')]),
      said('m2', [answer('c1')]),
      thought('m3', 'B'),
      said('m3', [{ text: 'B', thought: true }, { text: 'done' }]),
      end(),
    ])
    expect(list.filter(({ type }) => type === 'REASONING_MESSAGE_START').map(ids)).toEqual([
      'm1:reasoning',
      'm3:reasoning',
    ])
    expect(list.filter(({ type }) => type === 'REASONING_MESSAGE_CONTENT')).toHaveLength(2)
  })
  test('signatures go to the message or call that they sign', async () => {
    const list = await printed([
      begin(),
      said('m1', [
        { text: 'A', thought: true, thoughtSignature: 's1' },
        { text: 'B', thoughtSignature: 's2' },
        { ...call('c1'), thoughtSignature: 's3' },
      ]),
      end(),
    ])
    expect(
      list
        .filter(({ type }) => type === 'REASONING_ENCRYPTED_VALUE')
        .map(({ subtype, entityId, encryptedValue }) => [subtype, entityId, encryptedValue]),
    ).toEqual([
      ['tool-call', 'c1', 's3'],
      ['message', 'm1:reasoning', 's1'],
      ['message', 'm1', 's2'],
    ])
  })
})

describe('tools', () => {
  test('calls are part of the message that made them; results are messages of their own', async () => {
    const { messages } = await official(
      framesOf(
        rowsOf([
          begin(),
          said('m1', [{ text: 'Both.' }, call('a', 'f', { x: 1 }), call('b')]),
          said('m2', [answer('a', { result: 'one' }), answer('b', { n: 2 })]),
          end(),
        ]),
      ),
    )
    expect(messages).toEqual([
      {
        id: 'm1',
        role: 'assistant',
        content: 'Both.',
        toolCalls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
          { id: 'b', type: 'function', function: { name: 'look', arguments: '{}' } },
        ],
      },
      { id: 'm2', role: 'tool', toolCallId: 'a', content: 'one' },
      { id: 'm2:1', role: 'tool', toolCallId: 'b', content: '{"n":2}' },
    ])
  })
  test('SPEC 1.5: a call inside a partial does not count', async () => {
    expect(await types(begin(), said('m1', [call('c1')], { partial: true }), end())).toEqual([
      'RUN_STARTED',
      'RUN_FINISHED',
    ])
  })
  test('sources without call ids: answers go to the oldest open call of the name', async () => {
    const bare = (name: string): AdkPart => ({ functionCall: { name, args: {} } })
    const told = (name: string, result: string): AdkPart => ({ functionResponse: { name, response: { result } } })
    const list = await printed([
      begin(),
      said('m1', [bare('f'), bare('g'), bare('f')]),
      said('m2', [told('f', '1')]),
      said('m3', [told('f', '2')]),
      said('m4', [told('g', '3')]),
      said('m5', [told('h', '4')]),
      end(),
    ])
    expect(
      list.filter(({ type }) => type === 'TOOL_CALL_RESULT').map(({ toolCallId, content }) => [toolCallId, content]),
    ).toEqual([
      ['m1:0', '1'],
      ['m1:2', '2'],
      ['m1:1', '3'],
      ['h', '4'],
    ])
  })
  test('two calls with the same id in one event are two calls', async () => {
    const list = await printed([begin(), said('m1', [call('c', 'f'), call('c', 'g')]), end()])
    expect(
      list
        .filter(({ type }) => type === 'TOOL_CALL_START')
        .map(({ toolCallId, toolCallName }) => [toolCallId, toolCallName]),
    ).toEqual([
      ['c', 'f'],
      ['m1:1', 'g'],
    ])
  })
  test('images: parts of a result, activities of an agent', async () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
    const list = await printed([
      begin(),
      said('m1', [
        { text: 'Here:' },
        image,
        { fileData: { fileUri: 'gs://b/f', mimeType: 'video/mp4' } },
        { executableCode: { code: '1+1', language: 'PYTHON' } },
        call('c1'),
      ]),
      said('m2', [{ functionResponse: { id: 'c1', name: 'look', response: { result: 'a map' }, parts: [image] } }]),
      end(),
    ])
    expect(
      list
        .filter(({ type }) => type === 'ACTIVITY_SNAPSHOT')
        .map(({ messageId, activityType, content }) => [messageId, activityType, content]),
    ).toEqual([
      ['m1:part-1', 'media', { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } }],
      ['m1:part-2', 'media', { type: 'video', source: { type: 'file', value: 'gs://b/f', mimeType: 'video/mp4' } }],
      ['m1:part-3', 'adk.part', { executableCode: { code: '1+1', language: 'PYTHON' } }],
    ])
    expect(list.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({
      content: [{ type: 'text', text: 'a map' }, { type: 'image' }],
    })
  })
})
