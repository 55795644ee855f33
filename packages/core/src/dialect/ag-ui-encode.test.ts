import { describe, expect, test } from 'vitest'
import { accepted, official } from '../../../../test/ag-ui-official.ts'
import type { AdkEvent, AdkPart } from '../event/adk-event.ts'
import type { Recorded, RunEvent, RunInput } from '../event/run-event.ts'
import type { Frame } from '../frame/frame.ts'
import { agUi } from './ag-ui.ts'
import type { EncoderOptions } from './dialect.ts'

const begin = (input: Partial<RunInput> = {}, more: object = {}): RunEvent => ({
  kind: 'run.started',
  agent: 'assistant',
  input: { messages: [], ...input },
  ...more,
})
const end = (more: object = {}): RunEvent => ({ kind: 'run.finished', outcome: 'done', ...more }) as RunEvent

let events = 0
interface Said extends Partial<Omit<AdkEvent, 'content'>> {
  readonly node?: string
  readonly task?: string
}
function said(message: string, parts: readonly AdkPart[], { node, task, ...more }: Said = {}): RunEvent {
  const event = {
    id: `e${++events}`,
    author: 'assistant',
    invocationId: 'i',
    timestamp: 1,
    content: { role: 'model', parts },
    ...more,
  }
  return {
    kind: 'agent',
    message,
    event,
    ...(node === undefined ? {} : { node }),
    ...(task === undefined ? {} : { task }),
  }
}
const delta = (message: string, text: string, more: Said = {}) => said(message, [{ text }], { partial: true, ...more })
const thought = (message: string, text: string, more: Said = {}) =>
  said(message, [{ text, thought: true }], { partial: true, ...more })
const call = (id: string, name = 'look', args = {}): AdkPart => ({ functionCall: { id, name, args } })
const answer = (id: string, response = {}, name = 'look'): AdkPart => ({ functionResponse: { id, name, response } })

const rowsOf = (list: readonly (RunEvent | { run: string; event: RunEvent })[]): Recorded[] =>
  list.map((row, i) => ('kind' in row ? { seq: i + 1, at: i, run: 'r', event: row } : { seq: i + 1, at: i, ...row }))
function framesOf(rows: readonly Recorded[], options: Partial<EncoderOptions> = {}): Frame[] {
  const encoder = agUi.encoder({ session: 's', ...options })
  return rows.flatMap((row) => encoder.push(row))
}
/** What is printed, between RUN_STARTED and the end of it: the official client must accept the whole. */
async function printed(
  list: readonly (RunEvent | { run: string; event: RunEvent })[],
  options: Partial<EncoderOptions> = {},
): Promise<Record<string, unknown>[]> {
  const frames = framesOf(rowsOf(list), options)
  await accepted(frames)
  return frames.map((frame) => JSON.parse(frame.data))
}
const types = async (...list: readonly RunEvent[]): Promise<unknown[]> => (await printed(list)).map(({ type }) => type)

describe('the simple case is seed 001 to the byte', () => {
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
  test('a replay also tells what the run was started with', async () => {
    const [start] = await printed(flow)
    expect(start).toEqual({
      type: 'RUN_STARTED',
      threadId: 's',
      runId: 'r',
      input: { threadId: 's', runId: 'r', messages: [{ id: '1', role: 'user', content: 'Hello' }] },
    })
  })
})

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
  test('SPEC 1.4: the same words twice are said twice, whoever says them', async () => {
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
  test('the aggregate is believed: what was missing follows, what was wrong is put right by a snapshot', async () => {
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
  test('the same whole event delivered twice is said once', async () => {
    const whole = said('m1', [{ text: 'Hi' }, call('c1')])
    const client = await official(framesOf(rowsOf([begin(), whole, whole, end()])))
    expect(client.messages).toHaveLength(1)
    expect(client.messages[0]?.content).toBe('Hi')
  })
  test('an event without words, as ADK ends its streams, is no message', async () => {
    expect(await types(begin(), said('m1', []), said('m2', [{ text: '' }]), end())).toEqual([
      'RUN_STARTED',
      'RUN_FINISHED',
    ])
  })
  test('what a user or a system said keeps its role', async () => {
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
  test('why it stopped and what it is based on, when that is worth telling', async () => {
    const grounded = said('m1', [{ text: 'x' }], {
      finishReason: 'MAX_TOKENS',
      groundingMetadata: { webSearchQueries: ['q'] },
    })
    const list = await printed([begin(), grounded, end()])
    expect(list.find(({ type }) => type === 'TEXT_MESSAGE_END')).toMatchObject({
      metadata: { finishReason: 'MAX_TOKENS', groundingMetadata: { webSearchQueries: ['q'] } },
    })
  })
  test('an error that an agent reports is told even when the run goes on', async () => {
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
  test('close when words follow, are not repeated by the aggregate, and are closed when the run just ends', async () => {
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
  test('before and after a tool are two thoughts', async () => {
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
  test('signatures go to what they seal', async () => {
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
  test('calls stand in the message that made them; results are messages of their own', async () => {
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
  test('two calls of one id in one event are two calls', async () => {
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

describe('state', () => {
  const wrote = (stateDelta: AdkEvent['actions'] & object) =>
    said(`w${++events}`, [], { actions: { stateDelta: stateDelta as never } })
  test('adds what is new, replaces what is there, keeps temp: to itself, escapes keys, and tells all of it at the end', async () => {
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
  test('what people did between runs is told when the next begins', async () => {
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
  test('a patch that the official schema would end the run for is told as a fact', async () => {
    const list = await printed([begin(), { kind: 'state', patch: [{ op: 'add', path: 'no-slash', value: 1 }] }, end()])
    expect(list[1]).toEqual({
      type: 'CUSTOM',
      name: 'millrace.state',
      value: { patch: [{ op: 'add', path: 'no-slash', value: 1 }] },
    })
  })
})

describe('nodes', () => {
  const start = (node: string, agent: string, more: object = {}): RunEvent => ({
    kind: 'node.started',
    node,
    agent,
    ...more,
  })
  const stop = (node: string, more: object = {}): RunEvent =>
    ({ kind: 'node.finished', node, status: 'ok', ...more }) as RunEvent
  test('the run’s own agent is the run; what it calls are subagents, apart by their ids when called again', async () => {
    const list = await printed([
      begin(),
      start('assistant@1', 'assistant'),
      start('assistant/w@1', 'w', { parent: 'assistant@1', call: 'c1' }),
      delta('m1', 'a', { node: 'assistant/w@1', author: 'w' }),
      start('assistant/w/x@1', 'x', { parent: 'assistant/w@1' }),
      delta('m2', 'b', { node: 'assistant/w/x@1', author: 'x' }),
      delta('m1', 'A', { node: 'assistant/w@1', author: 'w' }),
      stop('assistant/w/x@1', { status: 'error', error: { code: 'timeout', message: 'too slow' } }),
      stop('assistant/w@1'),
      start('assistant/w@2', 'w', { parent: 'assistant@1' }),
      stop('assistant/w@2', { status: 'error' }),
      stop('assistant@1'),
      end(),
    ])
    expect(
      list.map(({ type, subagentRunId, parentSubagentRunId, parentToolCallId, name, code, delta: text }) =>
        [type, subagentRunId, parentSubagentRunId ?? parentToolCallId ?? code ?? text ?? name]
          .filter(Boolean)
          .join(' '),
      ),
    ).toEqual([
      'RUN_STARTED',
      'SUBAGENT_STARTED assistant/w@1 c1',
      'TEXT_MESSAGE_START assistant/w@1',
      'TEXT_MESSAGE_CONTENT assistant/w@1 a',
      'SUBAGENT_STARTED assistant/w/x@1 assistant/w@1',
      'TEXT_MESSAGE_START assistant/w/x@1',
      'TEXT_MESSAGE_CONTENT assistant/w/x@1 b',
      'TEXT_MESSAGE_CONTENT assistant/w@1 A',
      'SUBAGENT_ERROR assistant/w/x@1 timeout',
      'SUBAGENT_FINISHED assistant/w@1',
      'SUBAGENT_STARTED assistant/w@2 w',
      'SUBAGENT_ERROR assistant/w@2',
      'TEXT_MESSAGE_END assistant/w@1',
      'TEXT_MESSAGE_END assistant/w/x@1',
      'RUN_FINISHED',
    ])
  })
  test('parts of a graph are steps; two of a name at once are told apart', async () => {
    const list = await printed([
      begin(),
      start('chat@1', 'chat'),
      start('chat@2', 'chat'),
      delta('m1', 'hi', { node: 'chat@1', author: 'chat' }),
      stop('chat@1'),
      stop('chat@2', { status: 'error', error: { code: 'agent-error', message: 'no' } }),
      end(),
    ])
    expect(list.filter(({ stepName }) => stepName !== undefined)).toEqual([
      { type: 'STEP_STARTED', stepName: 'chat' },
      { type: 'STEP_STARTED', stepName: 'chat@2' },
      { type: 'STEP_FINISHED', stepName: 'chat' },
      { type: 'STEP_FINISHED', stepName: 'chat@2', metadata: { error: { code: 'agent-error', message: 'no' } } },
    ])
    expect(list.find(({ messageId }) => messageId === 'm1')).toEqual({
      type: 'TEXT_MESSAGE_START',
      messageId: 'm1',
      role: 'assistant',
      name: 'chat',
    })
  })
  test('a node that is started again after a crash is another subagent', async () => {
    const list = await printed([
      begin(),
      start('w@1', 'w', { parent: 'p' }),
      delta('m1', 'lost', { node: 'w@1', author: 'w' }),
      { kind: 'superseded', messages: ['m1'], nodes: ['w@1'] },
      start('w@1', 'w', { parent: 'p' }),
      said('m2', [{ text: 'found' }], { node: 'w@1', author: 'w' }),
      stop('w@1'),
      end(),
    ])
    expect(list.map(({ type, subagentRunId }) => [type, subagentRunId].filter(Boolean).join(' '))).toEqual([
      'RUN_STARTED',
      'SUBAGENT_STARTED w@1',
      'TEXT_MESSAGE_START w@1',
      'TEXT_MESSAGE_CONTENT w@1',
      'TEXT_MESSAGE_END',
      'SUBAGENT_FINISHED w@1',
      'MESSAGES_SNAPSHOT',
      'SUBAGENT_STARTED w@1~2',
      'TEXT_MESSAGE_START w@1~2',
      'TEXT_MESSAGE_CONTENT w@1~2',
      'TEXT_MESSAGE_END w@1~2',
      'SUBAGENT_FINISHED w@1~2',
      'RUN_FINISHED',
    ])
  })
  test('ADK’s wire has no nodes: another author’s turn is a step, a branch a subagent until its caller speaks', async () => {
    const at = (branch: string, author: string): Said => ({ branch, author })
    const list = await printed([
      begin({}, { agent: '' }),
      said('m1', [{ text: 'go' }], { author: 'lead' }),
      delta('m2', 'n', at('team.north', 'north')),
      delta('m3', 's', at('team.south', 'south')),
      said('m2', [{ text: 'n' }], at('team.north', 'north')),
      said('m3', [{ text: 's' }], at('team.south', 'south')),
      said('m4', [{ text: 'thanks' }], { author: 'lead' }),
      said('m5', [{ text: 'mine' }], { author: 'helper' }),
      said('m6', [{ text: 'q' }], { author: 'user' }),
      said('m7', [{ text: 'n again' }], at('team.north', 'north')),
      said('m8', [{ text: 'bye' }], { author: 'lead' }),
      end(),
    ])
    expect(
      list
        .filter(({ type }) => /STEP|SUBAGENT/.test(String(type)))
        .map(({ type, stepName, subagentRunId }) => `${type} ${stepName ?? subagentRunId}`),
    ).toEqual([
      'SUBAGENT_STARTED team.north',
      'SUBAGENT_STARTED team.south',
      'SUBAGENT_FINISHED team.north',
      'SUBAGENT_FINISHED team.south',
      'STEP_STARTED helper',
      'SUBAGENT_STARTED team.north~2',
      'SUBAGENT_FINISHED team.north~2',
      'STEP_FINISHED helper',
    ])
    const names = Object.fromEntries(
      list.filter(({ type }) => type === 'TEXT_MESSAGE_START').map(({ messageId, name }) => [messageId, name]),
    )
    expect(names).toEqual({
      m1: undefined,
      m2: undefined,
      m3: undefined,
      m4: undefined,
      m5: 'helper',
      m6: undefined,
      m7: undefined,
      m8: undefined,
    })
  })
})

describe('how a run ends', () => {
  test('failed: what is open is closed, then RUN_ERROR with the code of whoever failed', async () => {
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
  test('waiting for a person: snapshots first, then what is asked; subagents are suspended', async () => {
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
  test('the answer: the call is not announced again, only its result', async () => {
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
  test('a tool of the client’s own is pending, not a question', async () => {
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
  test('tokens: as the engine counted, thinking inside the output; else as the models reported, by model', async () => {
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
  test('a run that never ended is ended when the next begins, and its own late end is not told twice', async () => {
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
  test('a fork and a branch say where they come from; a run without a start gets one', async () => {
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

describe('what no longer counts', () => {
  test('is closed, and a snapshot takes it away: text, thoughts, calls and results', async () => {
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
    // A client keeps its last reasoning message whatever a snapshot says; so it is emptied.
    expect(messages).toEqual([
      { id: 'm0', role: 'assistant', content: 'kept' },
      { id: 'm1:reasoning', role: 'reasoning', content: '' },
      { id: 'm6', role: 'assistant', content: 'whole' },
    ])
  })
})

describe('facts', () => {
  test('each is a CUSTOM event of a stable name, by node where it has one, and comes back', async () => {
    const facts: RunEvent[] = [
      { kind: 'tasks', tasks: [{ id: 't1', title: 'x', status: 'pending', order: 0 }] },
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
  test('the task that something is done for goes along', async () => {
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

describe('who joins late', () => {
  const prelude = (list: readonly RunEvent[]) => {
    const encoder = agUi.encoder({ session: 's' })
    for (const row of rowsOf(list)) encoder.push(row)
    return encoder.prelude().map((frame) => JSON.parse(frame.data))
  }
  test('gets nothing before the first run', () => expect(prelude([])).toEqual([]))
  test('in the middle of things: the conversation, the state, and what is open opened again', () => {
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
  test('between runs: the last run, whole and ended, with what it asks', async () => {
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
