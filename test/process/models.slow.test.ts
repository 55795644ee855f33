import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { block, claude, delta, message, reply, start, stop } from '../kit/anthropic-wire.ts'
import { built, oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { loadedAgents } from '../kit/loaded-agents.ts'
import { type ModelServer, modelServer } from '../kit/model-server.ts'

// Agents as their authors write them, on the built server, with the settings that only the environment has.

const calls = claude([
  start(),
  block(0, { type: 'tool_use', id: 'toolu_a', name: 'get_weather', input: {} }),
  delta(0, { type: 'input_json_delta', partial_json: '{"city":"Rome"}' }),
  stop(0),
  ...message('tool_use'),
])

const adk = (model: string): string => `
import { FunctionTool, LlmAgent } from '@google/adk'
import { z } from 'zod'
const weather = new FunctionTool({
  name: 'get_weather', description: 'The weather', parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: 'clear' }),
})
export const rootAgent = new LlmAgent({ name: 'weather', model: '${model}', instruction: 'Be brief.', tools: [weather] })
`
const graph = (model: string): string => `
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
${model}
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('chat', async ({ messages }) => ({ messages: [await llm.invoke(messages)] }))
  .addEdge(START, 'chat')
  .compile()
`
const agents = {
  claude: adk('claude-opus-4-8'),
  typo: adk('gpt-4o-mini'),
  mute: adk('anthropic:mute'),
  chat: graph("import { chatModel } from '@millrace/server/langgraph'\nconst llm = chatModel()"),
  own: graph(
    "import { FakeListChatModel } from '@langchain/core/utils/testing'\nconst llm = new FakeListChatModel({ responses: ['Hello'] })",
  ),
}

const folder = mkdtempSync(join(tmpdir(), 'millrace-models-'))
let served: Served
let models: ModelServer
beforeAll(async () => {
  await built()
  for (const [name, text] of Object.entries(agents)) {
    mkdirSync(join(folder, 'agents', name), { recursive: true })
    writeFileSync(join(folder, 'agents', name, 'agent.ts'), text)
  }
  // Only this one is short of patience: on a busy machine the other answers may take seconds, too.
  writeFileSync(join(folder, 'agents/mute/.env'), 'MILLRACE_MODEL_TIMEOUT=2\n')
  models = await modelServer([
    (response, request) => {
      const { body } = models.requests.at(-1) ?? {}
      if (body.model === 'mute') return
      const isFirst = body.tools !== undefined && body.messages.length === 1
      return (isFirst ? calls : claude(reply('Clear ', 'skies.')))(response, request)
    },
  ])
  served = await serveBuilt(
    ['--port', '0', '--data-dir', join(folder, 'data'), '--agents', join(folder, 'agents'), ...oneProcess],
    {
      ANTHROPIC_API_KEY: 'key',
      ANTHROPIC_BASE_URL: models.url,
    },
  )
})
afterAll(async () => {
  await served.kill()
  await models.close()
  rmSync(folder, { recursive: true })
})

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it knows is there
type Row = any

async function run(agent: string): Promise<readonly Row[]> {
  const answer = await fetch(`${served.address}/ag-ui/${agent}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      threadId: agent,
      runId: `r-${agent}`,
      messages: [{ id: '1', role: 'user', content: 'Rome?' }],
    }),
  })
  await answer.text()
  const log = await (await fetch(`${served.address}/sessions/${agent}/log`)).text()
  const rows = log.split('\n').filter((line) => line !== '')
  return rows.map((line) => JSON.parse(line).event).filter((event) => event !== undefined)
}

test('an ADK agent with a Claude model calls its tool and answers, and the log has the model and its tokens', async () => {
  const rows = await run('claude')
  const whole = rows.filter(({ kind, event }) => kind === 'agent' && event.partial !== true)
  expect(whole.at(-1).event).toMatchObject({
    content: { parts: [{ text: 'Clear skies.' }] },
    modelVersion: 'claude-haiku-4-5-20251001',
    usageMetadata: { promptTokenCount: 17, cachedContentTokenCount: 5, totalTokenCount: 29 },
  })
  expect(rows.at(-1)).toMatchObject({ outcome: 'done', usage: { modelCalls: 2, inputTokens: 34 } })
})

test('a name without a provider fails the run with what to write', async () => {
  expect((await run('typo')).at(-1)).toMatchObject({
    outcome: 'failed',
    error: {
      message: expect.stringContaining(
        'gpt-4o-mini: no provider of that name; write openai:gpt-4o-mini, or set MILLRACE_MODEL',
      ),
    },
  })
})

test('a model that sends nothing fails the run after MILLRACE_MODEL_TIMEOUT', async () => {
  expect((await run('mute')).at(-1)).toMatchObject({
    outcome: 'failed',
    error: { source: 'TIMEOUT', message: expect.stringContaining('nothing for 2 s; set MILLRACE_MODEL_TIMEOUT') },
  })
})

test('a graph with chatModel runs Claude', async () => {
  const rows = await run('chat')
  const text = rows.flatMap(({ event }) => event?.content?.parts ?? []).map((part: { text?: string }) => part.text)
  expect(rows.at(-1)).toMatchObject({ outcome: 'done' })
  expect(text).toContain('Clear skies.')
})

test('GET /agents shows the model that answers, and none for a graph with a model of its own', async () => {
  const listed: readonly Row[] = await loadedAgents(served.address)
  const shown = listed.map(({ name, model }) => [name, model])
  expect(Object.fromEntries(shown)).toMatchObject({
    claude: { name: 'claude-opus-4-8', offline: false },
    chat: { offline: false },
    typo: { name: 'gpt-4o-mini', offline: false },
    own: undefined,
  })
})
