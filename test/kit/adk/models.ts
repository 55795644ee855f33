import { FunctionTool, LlmAgent } from '@google/adk'
import { afterEach, describe, expect, test } from 'vitest'
import { model, z } from '../../../packages/server/src/adk.ts'
import { adkAgent } from '../../../packages/server/src/agent/adk/adk-agent.ts'
import type { ModelSettings } from '../../../packages/server/src/agent/model/settings.ts'
import { type Answer, cut, events, json, type ModelServer, modelServer, stalled } from '../model-server.ts'
import { outline, said, testSession } from '../run-agent.ts'

// The real SDKs against a server on loopback that speaks the vendors' own wire protocol.

let server: ModelServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const weather = new FunctionTool({
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string().describe('Its name'), days: z.number().optional() }),
  execute: ({ city }) => ({ city, sky: 'clear' }),
})

async function start(answers: readonly Answer[]): Promise<ModelServer> {
  server = await modelServer(answers)
  return server
}
const sessionOf = (settings: ModelSettings, agent: Partial<ConstructorParameters<typeof LlmAgent>[0]> = {}) => {
  const root = new LlmAgent({ name: 'root', instruction: 'Be brief.', model: model(), tools: [weather], ...agent })
  return testSession(adkAgent('root', async () => root, { models: settings }))
}
const words = { messages: [{ id: 'm', role: 'user' as const, content: { parts: [{ text: 'Rome?' }] } }] }
const whole = { ...words, props: { partials: false } }

describe('gemini', () => {
  const path = '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse'
  const settings = ({ url }: ModelServer): ModelSettings => ({ googleApiKey: 'key', googleBaseUrl: url })
  const chunk = (parts: readonly object[], finishReason?: string) => ({
    candidates: [{ content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
    modelVersion: 'gemini-2.5-flash-001',
  })
  const calls = [
    chunk([{ text: 'Let me see.', thought: true }]),
    chunk([{ text: 'I will ' }]),
    chunk([{ text: 'check. ' }]),
    chunk([{ functionCall: { name: 'get_weather', args: { city: 'Rome' } } }]),
    chunk([{ functionCall: { name: 'get_weather', args: { city: 'Oslo' } } }]),
    chunk([{ text: '' }], 'STOP'),
  ]
  const answer = [chunk([{ text: 'Clear ' }]), chunk([{ text: 'skies.' }]), chunk([{ text: '' }], 'STOP')]

  test('streams text, thoughts and calls; the calls of a turn are one event', async () => {
    const wire = await start([events(calls, '\r\n'), events(answer, '\r\n')])
    const seen = await sessionOf(settings(wire)).run(words)
    expect(outline(seen)).toEqual([
      '> root@1',
      'root … thought “Let me see.”',
      'root … “I will ”',
      'root … “check. ”',
      'root thought “Let me see.” “I will check. ” call get_weather call get_weather',
      'root answer get_weather answer get_weather',
      'root … “Clear ”',
      'root … “skies.”',
      'root “Clear skies.”',
      '< root@1',
      'done',
    ])
    const [first, second] = wire.requests
    expect(first?.path).toBe(path)
    expect(first?.headers['x-goog-api-key']).toBe('key')
    expect(first?.body.systemInstruction.parts[0].text).toContain('Be brief.')
    expect(first?.body.tools[0].functionDeclarations[0].name).toBe('get_weather')
    const sent = second?.body.contents
      .at(-1)
      .parts.map((part: { functionResponse: { response: object } }) => part.functionResponse.response)
    expect(sent).toEqual([
      { city: 'Rome', sky: 'clear' },
      { city: 'Oslo', sky: 'clear' },
    ])
    expect(said(seen).at(-1)?.event.modelVersion).toBe('gemini-2.5-flash')
    expect(seen.at(-1)).toMatchObject({ usage: { modelCalls: 2, inputTokens: 10, totalTokens: 16 } })
  })

  test('answers whole when not streaming', async () => {
    const wire = await start([json(chunk([{ text: 'Clear skies.' }], 'STOP'))])
    expect(outline(said(await sessionOf(settings(wire)).run(whole)))).toEqual(['root “Clear skies.”'])
    expect(wire.requests[0]?.path).toBe('/v1beta/models/gemini-2.5-flash:generateContent')
  })

  test.each([429, 500, 503])('%d is tried again after the time it asks for', async (status) => {
    const refusal = json({ error: { code: status, message: 'later' } }, status, { 'retry-after': '0' })
    const wire = await start([refusal, refusal, events(answer, '\r\n')])
    expect(outline(await sessionOf(settings(wire)).run(words)).at(-1)).toBe('done')
    expect(wire.requests).toHaveLength(3)
  })

  test('a refusal that stays fails the run with the vendor’s code and words', async () => {
    const refusal = json({ error: { code: 429, message: 'quota exceeded' } }, 429, { 'retry-after-ms': '0' })
    const wire = await start([refusal])
    const seen = await sessionOf({ ...settings(wire), attempts: 2 }).run(words)
    const message = 'gemini-2.5-flash: quota exceeded (HTTP 429). Try again later, or use another model.'
    expect(seen.at(-1)).toMatchObject({ error: { code: 'model-error', source: '429', message } })
    expect(wire.requests).toHaveLength(2)
  })

  test('an answer that was blocked or empty fails the run', async () => {
    const wire = await start([json({ promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'not that' } })])
    const seen = await sessionOf(settings(wire)).run(whole)
    expect(outline(seen).at(-1)).toBe('failed (model-error: not that)')
  })

  test.each<[string, Answer, string]>([
    [
      'a page',
      (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>'),
      "the answer is text/html, not an event stream: check that http://127.0.0.1:PORT is the model's address",
    ],
    [
      'an error in the middle of the stream',
      events(
        [chunk([{ text: 'Clear ' }]), { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }],
        '\r\n',
      ),
      'gemini-2.5-flash: overloaded (HTTP 503).',
    ],
  ])('%s fails the run with a reason to act on', async (_, answered, message) => {
    const wire = await start([answered])
    const seen = await sessionOf(settings(wire)).run(words)
    expect(
      outline(seen)
        .at(-1)
        ?.replace(/:\d{4,5} /, ':PORT '),
    ).toBe(`failed (model-error: ${message})`)
  })

  test('an answer cut at the token limit is an answer', async () => {
    const wire = await start([events([chunk([{ text: 'Clear sk' }]), chunk([{ text: '' }], 'MAX_TOKENS')], '\r\n')])
    const seen = await sessionOf(settings(wire)).run(words)
    expect(outline(seen).at(-1)).toBe('done')
    expect(said(seen).at(-1)?.event.finishReason).toBe('MAX_TOKENS')
  })

  test('an answer that just stops, as behind a proxy that cuts it, is a failure', async () => {
    const wire = await start([events([chunk([{ text: 'Clear ' }]), chunk([{ text: 'sk' }])], '\r\n')])
    const seen = await sessionOf(settings(wire)).run(words)
    expect(outline(seen).at(-1)).toBe("failed (model-error: the model's answer broke off before its end)")
  })

  test('stopping closes the connection', async () => {
    const stop = new AbortController()
    let gone = (): void => undefined
    const closed = new Promise<void>((resolve) => {
      gone = resolve
    })
    const wire = await start([stalled([chunk([{ text: 'Clear ' }])], () => gone())])
    const onEvent = ({ kind }: { kind: string }) => {
      if (kind === 'agent') stop.abort()
    }
    await sessionOf(settings(wire)).run(words, { signal: stop.signal, onEvent })
    await closed
  })
})

describe('openai', () => {
  const settings = ({ url }: ModelServer): ModelSettings => ({
    model: 'openai:llama3.2',
    openaiApiKey: 'key',
    openaiBaseUrl: `${url}/v1`,
  })
  const delta = (of: object, finish_reason: string | null = null) => ({
    id: 'c1',
    object: 'chat.completion.chunk',
    model: 'llama3.2:3b',
    choices: [{ index: 0, delta: of, finish_reason }],
  })
  const usage = {
    ...delta({}),
    choices: [],
    usage: {
      prompt_tokens: 9,
      completion_tokens: 4,
      total_tokens: 13,
      completion_tokens_details: { reasoning_tokens: 1 },
    },
  }
  const call = (index: number, piece: object) => delta({ tool_calls: [{ index, ...piece }] })
  const calls = [
    delta({ role: 'assistant', content: '', reasoning_content: 'Hm.' }),
    delta({ content: 'I will check.' }),
    call(0, { id: 'call_0', type: 'function', function: { name: 'get_weather', arguments: '' } }),
    call(0, { function: { arguments: '{"ci' } }),
    call(1, { id: 'call_0', type: 'function', function: { name: 'get_weather', arguments: '{"city":' } }),
    call(0, { function: { arguments: 'ty":"Rome"}' } }),
    call(1, { function: { arguments: '"Oslo"}' } }),
    delta({}, 'tool_calls'),
    usage,
    '[DONE]',
  ]
  const answer = [delta({ content: 'Clear ' }), delta({ content: 'skies.' }), delta({}, 'stop'), usage, '[DONE]']

  const piece = (index: number | undefined, id: string, name: string | undefined, args: unknown) =>
    delta({ tool_calls: [{ index, id, function: { name, arguments: args } }] })
  test.each([
    [
      'counts its calls from 1',
      [piece(1, 'a', 'get_weather', '{"city":"Rome"}'), piece(2, 'b', 'get_weather', '{"city":"Oslo"}')],
    ],
    [
      'gives every call the index 0',
      [piece(0, 'a', 'get_weather', '{"city":"Rome"}'), piece(0, 'b', 'get_weather', '{"city":"Oslo"}')],
    ],
    [
      'gives no index',
      [
        piece(undefined, 'a', 'get_weather', '{"city":"Rome"}'),
        piece(undefined, 'b', 'get_weather', '{"city":"Oslo"}'),
      ],
    ],
    [
      'repeats the name in every piece',
      [
        piece(0, 'a', 'get_weather', '{"city":'),
        piece(0, 'a', 'get_weather', '"Rome"}'),
        piece(1, 'b', 'get_weather', '{"city":"Oslo"}'),
      ],
    ],
    [
      'sends arguments as an object',
      [piece(0, 'a', 'get_weather', { city: 'Rome' }), piece(1, 'b', 'get_weather', { city: 'Oslo' })],
    ],
  ])('a server that %s is understood', async (_, pieces) => {
    const done = [delta({ content: 'Clear.' }), delta({}, 'stop'), '[DONE]']
    const wire = await start([events([...pieces, delta({}, 'tool_calls'), '[DONE]']), events(done)])
    const seen = await sessionOf(settings(wire)).run(words)
    expect(outline(seen).at(-1)).toBe('done')
    const answered = said(seen).flatMap(({ event }) => event.content?.parts ?? [])
    expect(answered.flatMap(({ functionResponse }) => functionResponse?.response ?? [])).toEqual([
      { city: 'Rome', sky: 'clear' },
      { city: 'Oslo', sky: 'clear' },
    ])
  })

  test.each<[string, Answer, RegExp]>([
    [
      'a page',
      (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hi</h1>'),
      /the answer is text\/html, not an event stream: check that http:\S+\/v1 is the model's address/,
    ],
    ['JSON for a stream', json({ choices: [] }), /the answer is application\/json, not an event stream/],
    [
      'a call without a name',
      events([piece(0, 'a', undefined, '{}'), delta({}, 'tool_calls')]),
      /the model called a tool without a name/,
    ],
  ])('%s fails the run with a reason to act on', async (_, answer, reason) => {
    const wire = await start([answer])
    expect(outline(await sessionOf(settings(wire)).run(words)).at(-1)).toMatch(reason)
  })

  test('text in parts is text', async () => {
    const parts = delta({ content: [{ type: 'text', text: 'Clear.' }] })
    const wire = await start([events([parts, delta({}, 'stop'), '[DONE]'])])
    expect(outline(await sessionOf(settings(wire)).run(words))).toContain('root “Clear.”')
  })

  test('streams text, reasoning and calls, whatever the ids', async () => {
    const wire = await start([events(calls), events(answer)])
    const seen = await sessionOf(settings(wire)).run(words)
    expect(outline(seen)).toEqual([
      '> root@1',
      'root … thought “Hm.”',
      'root … “I will check.”',
      'root thought “Hm.” “I will check.” call get_weather call get_weather',
      'root answer get_weather answer get_weather',
      'root … “Clear ”',
      'root … “skies.”',
      'root “Clear skies.”',
      '< root@1',
      'done',
    ])
    expect(said(seen).at(-1)?.event).toMatchObject({
      modelVersion: 'llama3.2:3b',
      finishReason: 'STOP',
      usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, thoughtsTokenCount: 1, totalTokenCount: 13 },
    })
    const [first, second] = wire.requests
    expect(first).toMatchObject({ path: '/v1/chat/completions', headers: { authorization: 'Bearer key' } })
    expect(first?.body).toMatchObject({
      model: 'llama3.2',
      stream: true,
      messages: [
        { role: 'system', content: expect.stringContaining('Be brief.') },
        { role: 'user', content: 'Rome?' },
      ],
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            parameters: {
              type: 'object',
              required: ['city'],
              properties: { city: { type: 'string' }, days: { type: 'number' } },
            },
          },
        },
      ],
    })
    expect(second?.body.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: 'I will check.',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } },
          { id: 'call_2', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '{"city":"Rome","sky":"clear"}' },
      { role: 'tool', tool_call_id: 'call_2', content: '{"city":"Oslo","sky":"clear"}' },
    ])
  })

  test('answers whole when not streaming, with calls', async () => {
    const completion = (message: object, finish_reason: string) =>
      json({
        id: 'c',
        object: 'chat.completion',
        model: 'llama3.2:3b',
        choices: [{ index: 0, message, finish_reason }],
      })
    const asks = { id: 'x', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } }
    const wire = await start([
      completion({ role: 'assistant', content: null, tool_calls: [asks] }, 'tool_calls'),
      completion({ role: 'assistant', content: 'Clear skies.' }, 'stop'),
    ])
    expect(outline(said(await sessionOf(settings(wire)).run(whole)))).toEqual([
      'root call get_weather',
      'root answer get_weather',
      'root “Clear skies.”',
    ])
  })

  test('arguments that are not JSON are reported to the model, and the tool does not run', async () => {
    const broken = [
      call(0, { id: 'a', function: { name: 'get_weather', arguments: '{"city": Rome' } }),
      delta({}, 'tool_calls'),
      '[DONE]',
    ]
    const wire = await start([events(broken), events(answer)])
    await sessionOf(settings(wire)).run(words)
    expect(wire.requests[1]?.body.messages.at(-1).content).toBe(
      '{"error":"The arguments of \'get_weather\' are not a JSON object: {\\"city\\": Rome"}',
    )
  })

  test('asks for JSON by the agent’s schema', async () => {
    const wire = await start([events([delta({ content: '{"sky":"clear"}' }), delta({}, 'stop'), '[DONE]'])])
    await sessionOf(settings(wire), { tools: [], outputSchema: z.object({ sky: z.enum(['clear', 'grey']) }) }).run(
      words,
    )
    expect(wire.requests[0]?.body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { schema: { type: 'object', properties: { sky: { type: 'string', enum: ['clear', 'grey'] } } } },
    })
  })

  test.each([429, 500])('%d is tried again after the time it asks for', async (status) => {
    const refusal = json({ error: { message: 'later' } }, status, { 'retry-after': '0' })
    const wire = await start([refusal, events(answer)])
    expect(outline(await sessionOf(settings(wire)).run(words)).at(-1)).toBe('done')
    expect(wire.requests).toHaveLength(2)
  })

  test.each<[string, Answer, object]>([
    [
      '401',
      json({ error: { message: 'wrong key' } }, 401),
      { source: '401', message: expect.stringContaining('wrong key') },
    ],
    ['a cut stream', cut([delta({ content: 'Cle' })]), { code: 'model-error' }],
    ['a stream without an end', events([delta({ content: 'Cle' })]), { source: 'TRUNCATED' }],
    ['a content filter', events([delta({}, 'content_filter'), '[DONE]']), { source: 'SAFETY' }],
    ['a spent budget', events([delta({ reasoning: 'hm' }), delta({}, 'length'), '[DONE]']), { source: 'MAX_TOKENS' }],
    ['an empty answer', events([delta({}, 'stop'), '[DONE]']), { source: 'EMPTY' }],
    ['what is not a stream', json({ hello: 'world' }), { code: 'model-error' }],
  ])('%s fails the run with the reason', async (_, refusal, error) => {
    const wire = await start([refusal])
    const seen = await sessionOf({ ...settings(wire), attempts: 1 }).run(words)
    expect(seen.at(-1)).toMatchObject({ outcome: 'failed', error })
  })

  test('a server that is not there is named', async () => {
    const wire = await start([])
    await wire.close()
    const seen = await sessionOf({ ...settings(wire), attempts: 1 }).run(words)
    expect(seen.at(-1)).toMatchObject({
      error: { source: 'CONNECTION', message: expect.stringContaining('ECONNREFUSED') },
    })
  })

  test('stopping closes the connection', async () => {
    const stop = new AbortController()
    let gone = (): void => undefined
    const closed = new Promise<void>((resolve) => {
      gone = resolve
    })
    const wire = await start([stalled([delta({ content: 'Clear ' })], () => gone())])
    const onEvent = ({ kind }: { kind: string }) => {
      if (kind === 'agent') stop.abort()
    }
    await sessionOf(settings(wire)).run(words, { signal: stop.signal, onEvent })
    await closed
  })
})
