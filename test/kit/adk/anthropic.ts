import { BaseLlm, FunctionTool, LLMRegistry, LlmAgent, type LlmResponse } from '@google/adk'
import type { AdkPart } from '@millrace/core'
import { afterEach, describe, expect, test } from 'vitest'
import { model, z } from '../../../packages/server/src/adk.ts'
import { adkAgent } from '../../../packages/server/src/agent/adk/adk-agent.ts'
import type { ModelSettings } from '../../../packages/server/src/agent/model/settings.ts'
import { block, claude, delta, message, reply, start as startEvent, stop } from '../anthropic-wire.ts'
import { type Answer, json, type ModelServer, modelServer } from '../model-server.ts'
import { outline, said, testSession } from '../run-agent.ts'

// Anthropic's own SDK against a server on loopback that speaks the Messages API.

let server: ModelServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const weather = new FunctionTool({
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: 'clear' }),
})

async function start(answers: readonly Answer[]): Promise<ModelServer> {
  server = await modelServer(answers)
  return server
}
const settings = ({ url }: ModelServer): ModelSettings => ({ anthropicApiKey: 'key', anthropicBaseUrl: url })
const sessionOf = (models: ModelSettings, agent: Partial<ConstructorParameters<typeof LlmAgent>[0]> = {}) => {
  const root = new LlmAgent({ name: 'root', instruction: 'Be brief.', model: model(), tools: [weather], ...agent })
  return testSession(adkAgent('root', async () => root, { models }))
}
const asks = (...parts: AdkPart[]) => ({ messages: [{ id: 'm', role: 'user' as const, content: { parts } }] })
const words = asks({ text: 'Rome?' })

const calls = [
  startEvent(),
  block(0, { type: 'thinking', thinking: '', signature: '' }),
  { type: 'ping' },
  delta(0, { type: 'thinking_delta', thinking: 'Two ' }),
  delta(0, { type: 'thinking_delta', thinking: 'cities.' }),
  delta(0, { type: 'signature_delta', signature: 'c2lnbmVk' }),
  stop(0),
  block(1, { type: 'redacted_thinking', data: 'ZW5jcnlwdGVk' }),
  stop(1),
  block(2, { type: 'text', text: '' }),
  delta(2, { type: 'text_delta', text: 'I will check.' }),
  stop(2),
  block(3, { type: 'tool_use', id: 'toolu_a', name: 'get_weather', input: {} }),
  delta(3, { type: 'input_json_delta', partial_json: '{"ci' }),
  delta(3, { type: 'input_json_delta', partial_json: 'ty":"Rome"}' }),
  stop(3),
  block(4, { type: 'tool_use', id: 'toolu_b', name: 'get_weather', input: {} }),
  delta(4, { type: 'input_json_delta', partial_json: '{"city":"Oslo"}' }),
  stop(4),
  ...message('tool_use'),
]

describe('anthropic', () => {
  test('streams text, thoughts and calls; the calls of a turn run together and go back as they came', async () => {
    const wire = await start([claude(calls), claude(reply('Clear ', 'skies.'))])
    const seen = await sessionOf(settings(wire)).run(words)
    expect(outline(seen)).toEqual([
      '> root@1',
      'root … thought “Two ”',
      'root … thought “cities.”',
      'root … “I will check.”',
      'root thought “Two cities.” thought “” “I will check.” call get_weather call get_weather',
      'root answer get_weather answer get_weather',
      'root … “Clear ”',
      'root … “skies.”',
      'root “Clear skies.”',
      '< root@1',
      'done',
    ])
    const [first, second] = wire.requests
    expect(first).toMatchObject({
      path: '/v1/messages',
      headers: { authorization: 'Bearer key', 'anthropic-version': '2026-10-21' },
    })
    expect(first?.body).toMatchObject({
      model: 'claude-haiku-4-5',
      stream: true,
      system: expect.stringContaining('Be brief.'),
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Rome?' }] }],
      tools: [{ name: 'get_weather', input_schema: { type: 'object', required: ['city'] } }],
    })
    expect(second?.body.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Two cities.', signature: 'c2lnbmVk' },
          { type: 'redacted_thinking', data: 'ZW5jcnlwdGVk' },
          { type: 'text', text: 'I will check.' },
          { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Rome' } },
          { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: { city: 'Oslo' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: '{"city":"Rome","sky":"clear"}' },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: '{"city":"Oslo","sky":"clear"}' },
        ],
      },
    ])
    expect(said(seen).at(-1)?.event).toMatchObject({ modelVersion: 'claude-haiku-4-5-20251001', finishReason: 'STOP' })
    expect(said(seen).at(-1)?.event.usageMetadata).toEqual({
      promptTokenCount: 17,
      candidatesTokenCount: 9,
      thoughtsTokenCount: 3,
      totalTokenCount: 29,
      cachedContentTokenCount: 5,
    })
    expect(seen.at(-1)).toMatchObject({ usage: { modelCalls: 2, inputTokens: 34, cachedInputTokens: 10 } })
  })

  test('its thoughts are not sent to another vendor when the session changes models', async () => {
    const root = new LlmAgent({ name: 'root', model: model(), tools: [weather] })
    const wire = await start([claude(calls), claude(reply('Clear.'))])
    const first = testSession(adkAgent('root', async () => root, { models: settings(wire) }))
    await first.run(words)
    const gemini = await modelServer([
      json({ candidates: [{ content: { role: 'model', parts: [{ text: 'Yes.' }] }, finishReason: 'STOP' }] }),
    ])
    const models = { googleApiKey: 'key', googleBaseUrl: gemini.url }
    const second = testSession(
      adkAgent('root', async () => root, { models }),
      's1',
      first.rows,
    )
    await second.run({ ...asks({ text: 'Sure?' }), props: { partials: false } })
    await gemini.close()
    const sent = JSON.stringify(gemini.requests[0]?.body.contents)
    expect(sent).toContain('I will check.')
    expect(sent).not.toContain('thoughtSignature')
    expect(sent).not.toContain('Two cities.')
  })

  test('answers whole when not streaming, with calls', async () => {
    const whole = (content: readonly object[], stop_reason: string) =>
      json({ ...startEvent().message, content, stop_reason })
    const call = { type: 'tool_use', id: 'toolu_a', name: 'get_weather', input: { city: 'Rome' } }
    const wire = await start([whole([call], 'tool_use'), whole([{ type: 'text', text: 'Clear skies.' }], 'end_turn')])
    const seen = await sessionOf(settings(wire)).run({ ...words, props: { partials: false } })
    expect(outline(said(seen))).toEqual(['root call get_weather', 'root answer get_weather', 'root “Clear skies.”'])
    expect(wire.requests[1]?.body.messages[1].content[0].input).toEqual({ city: 'Rome' })
  })

  test('sends images, documents and text files', async () => {
    const wire = await start([claude(reply('A cat.'))])
    const data = Buffer.from('x').toString('base64')
    const parts = ['image/png', 'application/pdf', 'text/csv'].map((mimeType) => ({ inlineData: { mimeType, data } }))
    await sessionOf(settings(wire)).run(asks({ text: 'What is it?' }, ...parts))
    expect(wire.requests[0]?.body.messages[0].content).toEqual([
      { type: 'text', text: 'What is it?' },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } },
      { type: 'text', text: 'x' },
    ])
  })

  test('takes the settings of the agent: thinking, limits, schema', async () => {
    const wire = await start([claude(reply('{"sky":"clear"}'))])
    const seen = await sessionOf(settings(wire), {
      tools: [],
      outputSchema: z.object({ sky: z.string() }),
      generateContentConfig: {
        maxOutputTokens: 4000,
        temperature: 0.2,
        topK: 3,
        stopSequences: ['END'],
        thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 },
      },
    }).run(words)
    expect(wire.requests[0]?.body).toMatchObject({
      max_tokens: 4000,
      stop_sequences: ['END'],
      thinking: { type: 'enabled', budget_tokens: 2000, display: 'summarized' },
      output_config: { format: { type: 'json_schema', schema: { type: 'object', additionalProperties: false } } },
    })
    // This version of the API refuses these, so an agent that was written for another model would fail.
    expect(wire.requests[0]?.body).not.toHaveProperty('temperature')
    expect(wire.requests[0]?.body).not.toHaveProperty('top_k')
    expect(seen).toContainEqual(
      expect.objectContaining({ kind: 'log', message: expect.stringContaining('takes no temperature, topK') }),
    )
  })

  test.each([429, 500, 529])('%d is tried again after the time it asks for', async (status) => {
    const refusal = json({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, status, {
      'retry-after': '0',
    })
    const wire = await start([refusal, refusal, claude(reply('Clear.'))])
    expect(outline(await sessionOf(settings(wire)).run(words)).at(-1)).toBe('done')
    expect(wire.requests).toHaveLength(3)
  })

  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const cutShort = reply('Clear ').slice(0, -2)
  test.each<[string, Answer, object]>([
    ['529 that stays', json(overloaded, 529), { source: '529', message: expect.stringContaining('Overloaded') }],
    [
      'an overload in the middle of the stream',
      claude([...cutShort, overloaded]),
      { source: 'overloaded_error', message: expect.stringContaining('Overloaded') },
    ],
    [
      '401',
      json({ type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } }, 401),
      { source: '401', message: expect.stringContaining('invalid x-api-key') },
    ],
    ['a stream without an end', claude(cutShort), { source: 'TRUNCATED' }],
    ['a chunk that is not JSON', claude([...cutShort, '{"type":"content_bl']), { source: 'MALFORMED' }],
    [
      'a refusal',
      claude([
        startEvent(),
        ...message('refusal', { stop_details: { type: 'refusal', category: null, explanation: 'Not that.' } }),
      ]),
      { source: 'SAFETY', message: 'Not that.' },
    ],
    ['a spent budget', claude([startEvent(), ...message('max_tokens')]), { source: 'MAX_TOKENS' }],
    ['an empty answer', claude([startEvent(), ...message('end_turn')]), { source: 'EMPTY' }],
    [
      'JSON for a stream',
      json({ hello: 'world' }),
      { source: 'NO_STREAM', message: expect.stringContaining('application/json') },
    ],
  ])('%s fails the run with the reason', async (_, refusal, error) => {
    const wire = await start([refusal])
    const seen = await sessionOf({ ...settings(wire), attempts: 1 }).run(words)
    expect(seen.at(-1)).toMatchObject({ outcome: 'failed', error: { code: 'model-error', ...error } })
  })

  test('events and deltas that are unknown are skipped, as the vendor asks, and the log says so', async () => {
    const [first, ...rest] = reply('Clear ', 'skies.')
    const odd = [
      { type: 'weather_report' },
      'null',
      delta(0, { type: 'smell_delta', smell: 'rain' }),
      delta(7, { type: 'text_delta', text: 'of no block' }),
    ]
    const opened = rest.slice(0, 1)
    const wire = await start([claude([first ?? {}, ...opened, ...odd, ...rest.slice(1)])])
    const seen = await sessionOf(settings(wire)).run(words)
    expect(outline(said(seen)).at(-1)).toBe('root “Clear skies.”')
    const told = seen.filter((event) => event.kind === 'log')
    expect(told.map(({ level, node, message: text }) => [level, node, text.replace(/: \S+$/, '')])).toEqual(
      odd.map(() => ['warn', 'root@1', expect.stringContaining('the model sent a chunk that cannot be read')]),
    )
  })

  test('a cut answer is an answer', async () => {
    const wire = await start([claude([...cutShort, ...message('max_tokens')])])
    const seen = await sessionOf(settings(wire)).run(words)
    expect(said(seen).at(-1)?.event.finishReason).toBe('MAX_TOKENS')
    expect(outline(seen).at(-1)).toBe('done')
  })
})

describe('the name of a model', () => {
  test('a Claude model by its own name', async () => {
    const wire = await start([claude(reply('Clear.'))])
    expect(outline(await sessionOf(settings(wire), { model: 'claude-opus-4-8' }).run(words)).at(-1)).toBe('done')
    expect(wire.requests[0]?.body.model).toBe('claude-opus-4-8')
  })

  test('one without a provider fails with what to write', async () => {
    const seen = await sessionOf({ openaiApiKey: 'key' }, { model: 'gpt-4o-mini' }).run(words)
    expect(outline(seen).at(-1)).toContain(
      'gpt-4o-mini: no provider of that name; write openai:gpt-4o-mini, or set MILLRACE_MODEL',
    )
  })

  test('one that the agent’s file registered with ADK is the author’s', async () => {
    class Parrot extends BaseLlm {
      static override readonly supportedModels = [/claude-parrot.*/]
      override async *generateContentAsync(): AsyncGenerator<LlmResponse, void> {
        yield { content: { role: 'model', parts: [{ text: 'Rome!' }] } }
      }
      override async connect(): Promise<never> {
        throw new Error('no live mode')
      }
    }
    LLMRegistry.register(Parrot)
    const seen = await sessionOf({ anthropicApiKey: 'key' }, { model: 'claude-parrot-1' }).run(words)
    expect(outline(said(seen))).toEqual(['root “Rome!”'])
  })
})
