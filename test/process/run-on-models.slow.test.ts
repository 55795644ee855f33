import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json, Recorded, SessionInfo } from '@millrace/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { follow } from '../authors/kit/killed.ts'
import { logOf, runOnce, send } from '../authors/kit/session.ts'
import { block, claude, delta, message, reply, start, stop } from '../kit/anthropic-wire.ts'
import { authorFolder } from '../kit/author-folder.ts'
import { oneProcess, type Served, serveBuilt } from '../kit/built-server.ts'
import { type Answer, events, json, type ModelServer, modelServer } from '../kit/model-server.ts'
import { ownLangchain } from '../kit/own-packages.ts'

// One thing is changed in a run of a graph with LangChain's own ChatOpenAI and ChatAnthropic. A server on loopback plays
// the provider, and counts what it is sent.

const folder = mkdtempSync(join(tmpdir(), 'millrace-run-on-models-'))
const graph = (model: string): string => `import { tool } from '@langchain/core/tools'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { z } from 'zod'
${model}
const stock = tool(() => 'blue', { name: 'look', description: 'Looks.', schema: z.object({ at: z.string() }) })
const llm = chat.bindTools([stock])
const system = { role: 'system', content: 'Be brief.' }
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('talk', async ({ messages }) => ({ messages: [await llm.invoke([system, ...messages])] }))
  .addNode('tools', new ToolNode([stock]))
  .addEdge(START, 'talk')
  .addConditionalEdges('talk', toolsCondition)
  .addEdge('tools', 'talk')
  .compile()
`
const openai = (url: string, more: string): string =>
  graph(`import { ChatOpenAI } from '@langchain/openai'
const chat = new ChatOpenAI({ model: 'gpt-4o-mini', temperature: 0.25, maxTokens: 99, apiKey: 'k', configuration: { baseURL: ${JSON.stringify(url)} }${more} })`)
const anthropic = (url: string): string =>
  graph(`import { ChatAnthropic } from '@langchain/anthropic'
const chat = new ChatAnthropic({ model: 'claude-haiku-4-5', temperature: 0.25, maxTokens: 99, apiKey: 'k', anthropicApiUrl: ${JSON.stringify(url)} })`)

const args = JSON.stringify({ at: 'sky' })
const usage = { prompt_tokens: 40, completion_tokens: 7, total_tokens: 47 }
/** OpenAI's answer, streamed or whole as it was asked: a call of the tool, or what its result says. */
const gpt: Answer = (response, request) => {
  const last = Reflect.get(request, 'asked').messages.at(-1)
  const calls = [{ index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: args } }]
  const said = last.role === 'tool' ? { content: `It is ${last.content}.` } : { content: null, tool_calls: calls }
  const reason = last.role === 'tool' ? 'stop' : 'tool_calls'
  const head = { id: 'chatcmpl-1', model: 'gpt-4o-mini-2024' }
  if (Reflect.get(request, 'asked').stream !== true)
    return json({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', ...said }, finish_reason: reason }],
      usage,
    })(response, request)
  const chunk = (more: object) => ({ ...head, object: 'chat.completion.chunk', ...more })
  return events([
    chunk({ choices: [{ index: 0, delta: { role: 'assistant', ...said }, finish_reason: null }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: reason }] }),
    chunk({ choices: [], usage }),
    '[DONE]',
  ])(response, request)
}
/** The same of Anthropic. */
const haiku: Answer = (response, request) => {
  const last = Reflect.get(request, 'asked').messages.at(-1)
  const result = Array.isArray(last.content)
    ? last.content.find((each: Block) => each.type === 'tool_result')
    : undefined
  const called = [
    start(),
    block(0, { type: 'tool_use', id: 'call_1', name: 'look', input: {} }),
    delta(0, { type: 'input_json_delta', partial_json: args }),
    stop(0),
    ...message('tool_use'),
  ]
  return claude(result === undefined ? called : reply(`It is ${textOf(result.content)}.`))(response, request)
}
interface Block {
  readonly type: string
  readonly text?: string
}
const textOf = (content: string | readonly Block[]): string =>
  typeof content === 'string' ? content : content.map(({ text }) => text ?? '').join('')

let provider: ModelServer
let served: Served
beforeAll(async () => {
  provider = await modelServer([
    (response, request) => {
      const { body, path } = provider.requests.at(-1) as ModelServer['requests'][number]
      Reflect.set(request, 'asked', body)
      return (path.includes('completions') ? gpt : haiku)(response, request)
    },
  ])
  ownLangchain(folder)
  authorFolder(join(folder, 'agents'), {
    streams: openai(provider.url, ', streaming: true'),
    invokes: openai(provider.url, ', disableStreaming: true'),
    claude: anthropic(provider.url),
  })
  const flags = ['--port', '0', '--data-dir', join(folder, 'data'), '--agents', join(folder, 'agents')]
  served = await serveBuilt(['serve', ...flags, '--record-prompts', 'on', ...oneProcess])
})
afterAll(async () => {
  await served?.kill()
  await provider?.close()
  rmSync(folder, { recursive: true, force: true })
})

const answerIn = (rows: readonly Recorded[]): unknown =>
  rows.findLast(({ event }) => event.kind === 'agent' && event.event.partial !== true)?.event

test.each([
  ['a ChatOpenAI that streams', 'streams'],
  ['a ChatOpenAI that does not', 'invokes'],
  ['a ChatAnthropic', 'claude'],
])('SPEC 4.10: %s is sent the change alone, with its own settings and tools', async (_, agent) => {
  const { address } = served
  const session = `of-${agent}`
  provider.requests.length = 0
  await runOnce(address, agent, session, { say: 'What colour?' })
  const before = await logOf(address, session)
  const run = before[0]?.run ?? ''
  expect(JSON.stringify(answerIn(before))).toContain('It is blue.')
  const calls = before.flatMap(({ event }) => (event.kind === 'model.started' ? [event.call] : []))
  const originals = provider.requests.splice(0).map(({ body }) => body)
  expect([calls.length, originals.length]).toEqual([2, 2])

  /** What the provider is sent for the change, and the log that it makes. */
  const changed = async (change: object) => {
    provider.requests.length = 0
    const made = (await (
      await send(address, `/sessions/${session}/run-on`, { change: { run, ...change } })
    ).json()) as { session: SessionInfo; run: string }
    await follow(address, made.session.id, made.run, () => {})
    const rows = await logOf(address, made.session.id)
    expect(rows.findLast(({ event }) => event.kind === 'run.finished')?.event).toMatchObject({ outcome: 'done' })
    // The first call and the tool are not carried out again.
    expect(provider.requests).toHaveLength(1)
    return { sent: provider.requests[0]?.body, rows }
  }
  const prompt = (words: { readonly system?: string; readonly contents?: readonly Json[] }) =>
    changed({ field: 'prompt', call: calls[1], ...words })
  const systemOf = (body: { system?: Json; messages: { role: string; content: Json }[] }): string =>
    JSON.stringify(body.system ?? body.messages.find(({ role }) => role === 'system')?.content)
  /** All that is not words: the model, its parameters and its tools. */
  const settings = ({ messages: _, system: __, ...rest }: Record<string, unknown>) => rest

  const system = await prompt({ system: 'Be long.' })
  expect(systemOf(system.sent)).toContain('Be long.')
  expect(settings(system.sent)).toEqual(settings(originals[1]))
  expect(system.sent).toMatchObject({ temperature: 0.25 })
  expect(JSON.stringify(system.sent.tools)).toContain('look')
  expect(JSON.stringify(system.sent.messages)).toContain('What colour?')

  const call = { functionCall: { id: 'call_1', name: 'look', args: { at: 'sky' } } }
  const answer = { functionResponse: { id: 'call_1', name: 'look', response: { result: 'blue' } } }
  const words = await prompt({
    contents: [
      { role: 'user', parts: [{ text: 'Which shade?' }] },
      { role: 'model', parts: [call] },
      { role: 'user', parts: [answer] },
    ],
  })
  expect(JSON.stringify(words.sent.messages)).toContain('Which shade?')
  expect(JSON.stringify(words.sent.messages)).not.toContain('What colour?')
  expect(systemOf(words.sent)).toContain('Be brief.')

  const tool = await changed({ field: 'tool', call: 'call_1', result: { result: 'red' } })
  expect(JSON.stringify(tool.sent.messages)).toContain('red')
  expect(JSON.stringify(answerIn(tool.rows))).toContain('red')
  expect(settings(tool.sent)).toEqual(settings(originals[1]))

  expect(await logOf(address, session)).toEqual(before)
})
