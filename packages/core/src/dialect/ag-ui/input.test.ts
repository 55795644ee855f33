import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readRunAgentInput } from './input.ts'

const user = (id: string, text: string) => ({ id, role: 'user', content: { role: 'user', parts: [{ text }] } })

describe('a request is read', () => {
  test('the documented request format', () => {
    const body = {
      threadId: 'thread-12345',
      runId: 'run-67890',
      state: {},
      messages: [{ id: 'msg-1', role: 'user', content: 'Hello' }],
      tools: [],
      context: [],
      forwardedProps: {},
    }
    expect(readRunAgentInput(body)).toEqual({
      threadId: 'thread-12345',
      runId: 'run-67890',
      protocol: '0',
      input: { messages: [user('msg-1', 'Hello')] },
    })
  })
  test('the documented examples', () => {
    const curl = (id: string, run: string, content: string) =>
      `{"threadId":"${id}","runId":"${run}","state":{},"messages":[{"id":"1","role":"user","content":"${content}"}],"tools":[],"context":[],"forwardedProps":{}}`
    expect(readRunAgentInput(JSON.parse(curl('test-123', 'run-456', 'Hello')))).toMatchObject({ runId: 'run-456' })
    expect(readRunAgentInput(JSON.parse(curl('test', 'test', 'Tell me a proverb')))).toMatchObject({
      input: { messages: [user('1', 'Tell me a proverb')] },
    })
  })
  test('1.0: only the three required fields', () => {
    expect(readRunAgentInput({ threadId: 't', runId: 'r', messages: [], protocolVersion: '1.0' })).toEqual({
      threadId: 't',
      runId: 'r',
      protocol: '1',
      stateless: true,
      input: { messages: [] },
    })
  })
  test.each([
    ['1.0', '1'],
    ['1', '1'],
    ['2.7', '1'],
    ['10.0', '1'],
    ['0.9', '0'],
    ['', '0'],
    ['latest', '0'],
    [1, '0'],
    [null, '0'],
  ])('protocolVersion %j is read as %s, whichever way its key is written', (version, protocol) => {
    const body = { threadId: 't', runId: 'r', messages: [] }
    expect(readRunAgentInput({ ...body, protocolVersion: version })).toMatchObject({ protocol })
    expect(readRunAgentInput({ ...body, protocol_version: version })).toMatchObject({ protocol })
  })
  test('every role, with what each may carry', () => {
    const call = {
      id: 'c1',
      type: 'function',
      function: { name: 'look', arguments: '{"at":1}' },
      encryptedValue: 'sig',
    }
    const read = readRunAgentInput({
      threadId: 't',
      runId: 'r',
      messages: [
        { id: '1', role: 'system', content: 'Be brief.' },
        { id: '2', role: 'developer', content: 'Metric.', encryptedValue: 'x' },
        { id: '3', role: 'user', content: 'Hi', name: 'alice' },
        { id: '4', role: 'assistant', content: 'Looking', toolCalls: [call] },
        {
          id: '5',
          role: 'assistant',
          toolCalls: [{ ...call, id: 'c2', function: { name: 'go', arguments: 'nonsense' } }],
        },
        { id: '6', role: 'tool', content: '{"seen":true}', toolCallId: 'c1' },
        { id: '7', role: 'tool', content: 'no', toolCallId: 'c9', error: 'unknown call' },
        { id: '8', role: 'reasoning', content: 'hm', encryptedValue: 'sig2' },
        { id: '9', role: 'activity', activityType: 'PLAN', content: {} },
      ],
    })
    const signed = { thoughtSignature: 'sig' }
    expect('errors' in read ? read : read.input.messages.map(({ role, content }) => [role, content.parts])).toEqual([
      ['system', [{ text: 'Be brief.' }]],
      ['developer', [{ text: 'Metric.', thoughtSignature: 'x' }]],
      ['user', [{ text: 'Hi' }]],
      ['assistant', [{ text: 'Looking' }, { functionCall: { id: 'c1', name: 'look', args: { at: 1 } }, ...signed }]],
      [
        'assistant',
        [{ functionCall: { id: 'c2', name: 'go', argsText: 'nonsense', argsError: 'not a JSON object' }, ...signed }],
      ],
      ['tool', [{ functionResponse: { id: 'c1', name: 'look', response: { seen: true } } }]],
      ['tool', [{ functionResponse: { id: 'c9', name: '', response: { result: 'no', error: 'unknown call' } } }]],
      ['assistant', [{ text: 'hm', thoughtSignature: 'sig2', thought: true }]],
    ])
  })
  test('content parts, and the binary part of 0.x upgraded', () => {
    const parts = [
      { type: 'text', text: 'What is this?' },
      {
        type: 'image',
        source: { type: 'data', value: 'AAAA', mimeType: 'image/png' },
        metadata: { filename: 'a.png' },
      },
      { type: 'document', source: { type: 'url', value: 'https://example.org/a.pdf' } },
      { type: 'audio', source: { type: 'file', value: 'files/1', provider: 'google', mimeType: 'audio/wav' } },
      { type: 'binary', mimeType: 'image/png', data: 'BBBB', filename: 'b.png' },
      { type: 'binary', mime_type: 'video/mp4', url: 'https://example.org/v.mp4' },
      { type: 'binary', mimeType: 'text/plain', id: 'file-9' },
    ]
    const read = readRunAgentInput({ threadId: 't', runId: 'r', messages: [{ id: '1', role: 'user', content: parts }] })
    expect('errors' in read ? read : read.input.messages[0]?.content.parts).toEqual([
      { text: 'What is this?' },
      { inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: 'a.png' } },
      { fileData: { fileUri: 'https://example.org/a.pdf' } },
      { fileData: { fileUri: 'files/1', mimeType: 'audio/wav' } },
      { inlineData: { mimeType: 'image/png', data: 'BBBB', displayName: 'b.png' } },
      { fileData: { fileUri: 'https://example.org/v.mp4', mimeType: 'video/mp4' } },
      { fileData: { fileUri: 'file-9', mimeType: 'text/plain' } },
    ])
  })
  test('snake_case and nulls of Python peers', () => {
    const body = {
      thread_id: 't',
      run_id: 'r',
      parent_run_id: 'r0',
      state: null,
      tools: null,
      context: null,
      forwarded_props: { a: 1 },
      messages: [
        {
          id: '1',
          role: 'assistant',
          content: null,
          name: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { id: '2', role: 'tool', content: 'ok', tool_call_id: 'c' },
      ],
      resume: [{ interrupt_id: 'i', status: 'resolved', payload: null }],
    }
    expect(readRunAgentInput(body)).toEqual({
      threadId: 't',
      runId: 'r',
      parentRunId: 'r0',
      protocol: '0',
      stateless: true,
      input: {
        messages: [
          {
            id: '1',
            role: 'assistant',
            content: { role: 'model', parts: [{ functionCall: { id: 'c', name: 'f', args: {} } }] },
          },
          {
            id: '2',
            role: 'tool',
            content: {
              role: 'user',
              parts: [{ functionResponse: { id: 'c', name: 'f', response: { result: 'ok' } } }],
            },
          },
        ],
        resume: [{ interrupt: 'i', status: 'resolved' }],
        props: { a: 1 },
      },
    })
  })
  test('state, tools, context, answers and properties of any kind', () => {
    const read = readRunAgentInput({
      threadId: 't',
      runId: 'r',
      messages: [],
      state: { proverbs: [] },
      tools: [{ name: 'set', description: 'sets', parameters: { type: 'object' }, metadata: { x: 1 } }],
      context: [{ description: 'page', value: 'home' }],
      forwardedProps: 'fast',
      resume: [
        { interruptId: 'a', status: 'resolved', payload: { ok: true } },
        { interruptId: 'b', status: 'cancelled' },
      ],
    })
    expect(read).toMatchObject({
      input: {
        state: { proverbs: [] },
        tools: [{ name: 'set', description: 'sets', parameters: { type: 'object' } }],
        context: [{ description: 'page', value: 'home' }],
        props: { forwardedProps: 'fast' },
        resume: [
          { interrupt: 'a', status: 'resolved', payload: { ok: true } },
          { interrupt: 'b', status: 'cancelled' },
        ],
      },
    })
  })
})

describe('a bad request is refused', () => {
  const paths = (body: unknown): unknown => {
    const read = readRunAgentInput(body)
    return 'errors' in read ? read.errors.map(({ path }) => path) : read
  }
  test.each([null, undefined, 7, 'x', [], true])('%j is no object', (body) => expect(paths(body)).toEqual(['']))
  test('every bad field is named, not only the first', () => {
    expect(
      paths({
        threadId: 7,
        messages: [
          7,
          { id: 1, role: 'user', content: 'x' },
          { id: 'a', role: 'wizard' },
          { id: 'b', role: 'user' },
          { id: 'c', role: 'user', content: [{ type: 'text' }, 7, { type: 'hologram' }, { type: 'image' }] },
          {
            id: 'd',
            role: 'assistant',
            toolCalls: [7, { id: 'x' }, { id: 'x', function: { name: 1, arguments: {} } }],
          },
          { id: 'e', role: 'tool', content: 'x' },
          { id: 'f', role: 'system', content: [] },
          { id: 'g', role: 'activity', activityType: 1, content: [] },
          {
            id: 'h',
            role: 'user',
            content: [
              { type: 'image', source: { type: 'data', value: 'x' } },
              { type: 'audio', source: { type: 'tape', value: 'x' } },
              { type: 'binary' },
              { type: 'binary', mimeType: 'a/b' },
            ],
          },
        ],
        state: [],
        tools: [{ name: 'x' }, 7],
        context: [{ description: 'x' }, 7],
        resume: [{ interruptId: 'x', status: 'maybe' }, 7],
      }),
    ).toEqual([
      'threadId',
      'runId',
      'messages[0]',
      'messages[1].id',
      'messages[2].role',
      'messages[3].content',
      'messages[4].content[0].text',
      'messages[4].content[1]',
      'messages[4].content[2].type',
      'messages[4].content[3].source',
      'messages[5].toolCalls[0]',
      'messages[5].toolCalls[1].function',
      'messages[5].toolCalls[2].function.name',
      'messages[5].toolCalls[2].function.arguments',
      'messages[6].toolCallId',
      'messages[7].content',
      'messages[8].content',
      'messages[8].activityType',
      'messages[9].content[0].source.mimeType',
      'messages[9].content[1].source.type',
      'messages[9].content[2].mimeType',
      'messages[9].content[3]',
      'state',
      'tools[0].description',
      'tools[1]',
      'context[0].value',
      'context[1]',
      'resume[0].status',
      'resume[1]',
    ])
  })
  test('each error says what the field must be', () => {
    expect(readRunAgentInput({ threadId: 't', messages: 'x' })).toEqual({
      errors: [
        { path: 'runId', message: 'must be a string' },
        { path: 'messages', message: 'must be a list' },
      ],
    })
  })
  test('nothing throws', () => {
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({
        threadId: fc.jsonValue(),
        runId: fc.string(),
        messages: fc.array(
          fc.record({
            id: fc.string(),
            role: fc.constantFrom('user', 'tool', 'assistant'),
            content: fc.jsonValue(),
            toolCalls: fc.jsonValue(),
          }),
        ),
      }),
    )
    fc.assert(
      fc.property(body, (given) => void readRunAgentInput(given)),
      { numRuns: 500 },
    )
  })
})
