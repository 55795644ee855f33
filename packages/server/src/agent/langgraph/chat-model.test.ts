import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { block, claude, delta, message, reply, start, stop } from '../../../../../test/kit/anthropic-wire.ts'
import { type Answer, events, type ModelServer, modelServer } from '../../../../../test/kit/model-server.ts'
import { said, testSession } from '../../../../../test/kit/run-agent.ts'
import { discoverAgents } from '../catalog.ts'
import type { ModelSettings } from '../model/settings.ts'
import { chatModel } from './chat-model.ts'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'

let server: ModelServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})
async function serve(answers: readonly Answer[]): Promise<ModelServer> {
  server = await modelServer(answers)
  return server
}

const weather = tool(async ({ city }) => `clear in ${city}`, {
  name: 'get_weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
})

/** The loop that the documentation of LangGraph begins with. */
function graph(seen: BaseMessage[] = []) {
  const llm = chatModel().bindTools?.([weather])
  return new StateGraph(MessagesAnnotation)
    .addNode('chat', async ({ messages }) => {
      const answer = (await llm?.invoke(messages)) as AIMessage
      seen.push(answer)
      return { messages: [answer] }
    })
    .addNode('tools', new ToolNode([weather]))
    .addEdge(START, 'chat')
    .addConditionalEdges('chat', ({ messages }) =>
      ((messages.at(-1) as AIMessage).tool_calls?.length ?? 0) > 0 ? 'tools' : END,
    )
    .addEdge('tools', 'chat')
    .compile()
}
const run = (
  of: unknown,
  models: ModelSettings,
  input: Parameters<ReturnType<typeof testSession>['run']>[0] = 'Rome?',
) => testSession(graphAgent('g', async () => ({ graph: of as CompiledGraph }), models)).run(input)

describe('Claude in a graph', () => {
  const calls = [
    start(),
    block(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'Two cities.' }),
    delta(0, { type: 'signature_delta', signature: 'c2ln' }),
    stop(0),
    block(1, { type: 'tool_use', id: 'toolu_a', name: 'get_weather', input: {} }),
    delta(1, { type: 'input_json_delta', partial_json: '{"city":"Rome"}' }),
    stop(1),
    block(2, { type: 'tool_use', id: 'toolu_b', name: 'get_weather', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{"city":"Oslo"}' }),
    stop(2),
    { type: 'weather_report' },
    ...message('tool_use'),
  ]

  test('calls tools, thinks, counts tokens and names its model; thoughts go back with their signature', async () => {
    const wire = await serve([claude(calls), claude(reply('Clear ', 'skies.'))])
    const seen: BaseMessage[] = []
    const told = await run(graph(seen), { anthropicApiKey: 'key', anthropicBaseUrl: wire.url })
    expect(wire.requests[1]?.body.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Two cities.', signature: 'c2ln' },
          { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Rome' } },
          { type: 'tool_use', id: 'toolu_2', name: 'get_weather', input: { city: 'Oslo' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: '{"result":"clear in Rome"}' },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: '{"result":"clear in Oslo"}' },
        ],
      },
    ])
    expect(seen.at(-1)).toMatchObject({
      content: 'Clear skies.',
      response_metadata: { model_name: 'claude-haiku-4-5-20251001', finish_reason: 'STOP' },
      usage_metadata: {
        input_tokens: 17,
        output_tokens: 12,
        total_tokens: 29,
        input_token_details: { cache_read: 5 },
        output_token_details: { reasoning: 3 },
      },
    })
    const thoughts = said(told).filter(({ event }) => event.content?.parts?.some(({ thought }) => thought === true))
    expect(thoughts.at(0)?.event).toMatchObject({ content: { parts: [{ text: 'Two cities.', thought: true }] } })
    expect(told.filter((event) => event.kind === 'log' && event.level === 'warn')).toMatchObject([
      { level: 'warn', message: expect.stringContaining('weather_report') },
    ])
  })

  test('an answer belongs to its call by the id, and images are sent', async () => {
    const wire = await serve([claude(reply('Clear.'))])
    const asked = [
      new HumanMessage({
        content: [
          { type: 'text', text: 'Where is it?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,eA==' } },
          { type: 'image', mimeType: 'image/jpeg', data: 'eQ==' },
        ],
      }),
      new AIMessage({ content: '', tool_calls: ['a', 'b'].map((id) => ({ id, name: 'get_weather', args: { id } })) }),
      new ToolMessage({ content: 'of b', tool_call_id: 'b' }),
      new ToolMessage({ content: 'of a', tool_call_id: 'a' }),
    ]
    const once = new StateGraph(MessagesAnnotation)
      .addNode('chat', async () => ({ messages: [await chatModel().invoke(asked)] }))
      .addEdge(START, 'chat')
      .compile()
    await run(once, { anthropicApiKey: 'key', anthropicBaseUrl: wire.url })
    const [question, , answers] = wire.requests[0]?.body.messages ?? []
    expect(question.content.slice(1)).toEqual([
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'eA==' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'eQ==' } },
    ])
    expect(answers.content).toMatchObject([
      { tool_use_id: 'toolu_2', content: '{"result":"of b"}' },
      { tool_use_id: 'toolu_1', content: '{"result":"of a"}' },
    ])
  })
})

test('tokens are counted once: Gemini reports them with every chunk', async () => {
  const chunk = (text: string, more: object = {}) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, ...more }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
  })
  const wire = await serve([events([chunk('Clear '), chunk('skies.'), chunk('', { finishReason: 'STOP' })], '\r\n')])
  const seen: AIMessage[] = []
  await run(graph(seen), { googleApiKey: 'key', googleBaseUrl: wire.url })
  expect(seen.at(-1)?.usage_metadata).toMatchObject({ input_tokens: 5, output_tokens: 3, total_tokens: 8 })
})

describe('the model in the description of a graph', () => {
  const folder = (files: Readonly<Record<string, string>>): string => {
    const root = mkdtempSync(join(tmpdir(), 'millrace-models-'))
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(root, name))
      writeFileSync(join(root, name, 'agent.ts'), text)
    }
    return root
  }
  const head = "import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'\n"
  const graphOf = (model: string): string =>
    `export const graph = new StateGraph(MessagesAnnotation).addNode('chat', async ({ messages }) => ({ messages: [await ${model}.invoke(messages)] })).addEdge(START, 'chat').compile()`

  test('is the choice of chatModel, or nothing where the author brought a model of their own', async () => {
    const root = folder({
      ours: `${head}import { chatModel } from '@millrace/server/langgraph'\nconst llm = chatModel()\n${graphOf('llm')}`,
      named: `${head}import { chatModel } from '@millrace/server/langgraph'\nconst llm = chatModel({ name: 'claude-opus-4-8' })\n${graphOf('llm')}`,
      theirs: `${head}import { FakeListChatModel } from '@langchain/core/utils/testing'\nconst llm = new FakeListChatModel({ responses: ['Hello'] })\n${graphOf('llm')}`,
      created: `${head}const llm = { model: 'gpt-4o-mini' }\n${graphOf('llm')}\nObject.assign(graph, { options: { model: llm } })`,
    })
    const { agents } = discoverAgents(root, { models: { anthropicApiKey: 'key', tokensPerSecond: 0 } })
    const models = await Promise.all(
      [...agents].map(async ([name, agent]) => [
        name,
        (await agent.describe()).error ?? (await agent.describe()).model,
      ]),
    )
    expect(Object.fromEntries(models)).toEqual({
      ours: { name: 'claude-haiku-4-5', offline: false },
      named: { name: 'claude-opus-4-8', offline: false },
      theirs: undefined,
      created: { name: 'gpt-4o-mini', offline: false },
    })
  })
})
