import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { claude, reply } from '../kit/anthropic-wire.ts'
import { authorFolder } from '../kit/author-folder.ts'
import { type CommandOptions, type Ended, runCommand } from '../kit/command.ts'
import { type Answer, events, modelServer } from '../kit/model-server.ts'
import { ownLangchain } from '../kit/own-packages.ts'

// Graphs as their authors write them, with LangChain's own models and packages of their own: they are recorded with a
// model server, and tested without one and without a key.

const root = mkdtempSync(join(tmpdir(), 'millrace-cli-tape-'))
const agents = join(root, 'agents')
afterAll(() => rmSync(root, { recursive: true, force: true }))

const millrace = (args: readonly string[], options: CommandOptions = {}): Promise<Ended> =>
  runCommand(args, { cwd: root, ...options })

const desk = `import { tool } from '@langchain/core/tools'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
const stock = tool(() => JSON.stringify({ pieces: 412 }), { name: 'stock', description: 'Pieces in stock.', schema: z.object({ part: z.string() }) })
const price = tool(() => JSON.stringify({ euros: 17.5 }), { name: 'price', description: 'The price.', schema: z.object({ part: z.string() }) })
const llm = new ChatOpenAI({ model: 'gpt-4o-mini', temperature: 0 }).bindTools([stock, price])
const system = { role: 'system', content: 'You answer questions about the stock.' }
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('clerk', async ({ messages }) => ({ messages: [await llm.invoke([system, ...messages])] }))
  .addNode('tools', new ToolNode([stock, price]))
  .addEdge(START, 'clerk')
  .addConditionalEdges('clerk', toolsCondition)
  .addEdge('tools', 'clerk')
  .compile()
`
const helper = `import { createAgent } from 'langchain'
export const graph = createAgent({ model: 'openai:gpt-4o-mini', tools: [], systemPrompt: 'Be brief.' })
`
const writer = `import { ChatAnthropic } from '@langchain/anthropic'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
const llm = new ChatAnthropic({ model: 'claude-haiku-4-5' })
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('write', async ({ messages }) => ({ messages: [await llm.invoke(messages)] }))
  .addEdge(START, 'write')
  .compile()
`

const usage = { prompt_tokens: 40, completion_tokens: 7, total_tokens: 47 }

/** A streamed answer of OpenAI's API: the deltas, the reason for the end, and the tokens. */
function openaiAnswer(id: string, deltas: readonly object[], finish: string): Answer {
  const chunk = (more: object): object => ({
    id,
    object: 'chat.completion.chunk',
    model: 'gpt-4o-mini-2024',
    ...more,
  })
  const choice = (delta: object, reason: string | null): object =>
    chunk({ choices: [{ index: 0, delta, finish_reason: reason }] })
  return events([
    ...deltas.map((delta) => choice({ role: 'assistant', ...delta }, null)),
    choice({}, finish),
    chunk({ choices: [], usage }),
    '[DONE]',
  ])
}

const says = (...words: readonly string[]): Answer =>
  openaiAnswer(
    'chatcmpl-said',
    words.map((content) => ({ content })),
    'stop',
  )

/** The same by the Responses API, which `createAgent` uses for models that it makes itself. */
function responds(...words: readonly string[]): Answer {
  const response = { id: 'resp_1', object: 'response', model: 'gpt-4o-mini-2024', status: 'completed' }
  const text = { type: 'output_text', text: words.join(''), annotations: [] }
  const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [text] }
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const tokens = { input_tokens: 40, output_tokens: 7, total_tokens: 47 }
  return events([
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    ...words.map((delta) => ({ type: 'response.output_text.delta', ...at, delta })),
    { type: 'response.output_text.done', ...at, text: text.text },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { ...response, output: [item], usage: tokens } },
  ])
}

/** The arguments come in two pieces, as they do. */
function calls(name: string, id: string): Answer {
  const piece = (more: object): object => ({ tool_calls: [{ index: 0, ...more }] })
  return openaiAnswer(
    `chatcmpl-${id}`,
    [
      piece({ id, type: 'function', function: { name, arguments: '' } }),
      piece({ function: { arguments: '{"part":' } }),
      piece({ function: { arguments: '"bolt"}' } }),
    ],
    'tool_calls',
  )
}

const report = says('There are ', '412 pieces', ' at 17.5 euros.')
const inOrder = [calls('stock', 'call_1'), calls('price', 'call_2'), report]

async function withOpenai(answers: readonly Answer[], args: readonly string[]): Promise<Ended & { asked: number }> {
  const server = await modelServer(answers)
  try {
    const ended = await millrace(args, { env: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: server.url } })
    return { ...ended, asked: server.requests.length }
  } finally {
    await server.close()
  }
}

async function withAnthropic(args: readonly string[]): Promise<Ended & { asked: number }> {
  const server = await modelServer([claude(reply('Once upon', ' a time.'))])
  try {
    const env = { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: server.url }
    return { ...(await millrace(args, { env })), asked: server.requests.length }
  } finally {
    await server.close()
  }
}

beforeAll(async () => {
  ownLangchain(root)
  authorFolder(agents, { desk, helper, writer })
  const recorded = await Promise.all([
    withOpenai(inOrder, ['record', 'desk', 'How many bolts, at what price?', '--name', 'bolts']),
    withOpenai([responds('Hello', '.')], ['record', 'helper', 'Hi', '--name', 'hi']),
    withAnthropic(['record', 'writer', 'Tell a story', '--name', 'story']),
  ])
  for (const { code, err } of recorded)
    expect(err).toContain(code === 0 ? 'judged: trajectory, response, figures, requests, state' : 'code 0')
  expect(recorded.map(({ asked }) => asked)).toEqual([3, 1, 1])
})

test('what LangChain’s models answered is recorded whole: calls, tokens and chunks', () => {
  const { answers, turns } = JSON.parse(readFileSync(join(agents, 'desk/cases/bolts.case.json'), 'utf8'))
  expect(turns[0].expect.tools).toMatchObject([{ name: 'stock', args: { part: 'bolt' } }, { name: 'price' }])
  const [first, , last] = answers.clerk
  expect(first.parts).toEqual([{ functionCall: { name: 'stock', args: { part: 'bolt' } } }])
  expect(last).toMatchObject({ model: 'gpt-4o-mini-2024', finish: 'stop', usage: { totalTokenCount: 47 } })
  expect(last.chunks).toEqual(expect.arrayContaining(['412 pieces', ' at 17.5 euros.']))
})

test('the cases pass without a key and without a server, and twice give the same', async () => {
  const [first, second] = await Promise.all([millrace(['test', '--json']), millrace(['test', '--json'])])
  const judged = ({ out }: Ended): unknown => JSON.parse(out, (key, value) => (key === 'seconds' ? 0 : value))
  expect(judged(first)).toMatchObject({ passed: 3, failed: 0 })
  expect(judged(second)).toEqual(judged(first))
  expect((await millrace(['test', '--filter', 'desk'])).out).toMatch(
    /^✓ \S+bolts.case.json +3 model calls · 141 tokens/,
  )
})

test('a planted change is found and named', async () => {
  const file = join(agents, 'desk/agent.ts')
  const change = async (from: string, to: string): Promise<string> => {
    writeFileSync(file, desk.replace(from, to))
    const { code, out } = await millrace(['test', '--filter', 'desk'])
    writeFileSync(file, desk)
    expect(code).toBe(1)
    return out
  }
  const figure = await change('pieces: 412', 'pieces: 398')
  expect(figure).toMatch(/requests +clerk, model call 2: the answer of stock changed \(message 3 of 3\)/)
  expect(figure).toMatch(/figures +turn 1: no tool answered with 412\n/)
  expect(await change('about the stock.', 'about the stock. Be kind and brief.')).toMatch(
    /clerk, model call 1: its instruction changed \(the prompt has \d+ words, \d+ when recorded\)/,
  )
})

test('--live calls the model, and finds another order of tools', async () => {
  const swapped = [calls('price', 'call_1'), calls('stock', 'call_2'), report]
  const { code, asked, out } = await withOpenai(swapped, ['test', '--live', '--filter', 'desk'])
  expect([code, asked]).toEqual([1, 3])
  expect(out).toContain('the same tools were called in another order: clerk → price')
})
