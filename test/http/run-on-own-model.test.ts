import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EventLog, Json, Recorded, SessionInfo } from '@millrace/core'
import { discoverAgents, sqliteLog } from '@millrace/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { authorFolder } from '../kit/author-folder.ts'
import { testServer } from '../kit/server.ts'

// A request is changed in a graph whose author brings a chat model: neither the graph nor the model knows of Millrace.

const folder = mkdtempSync(join(tmpdir(), 'millrace-own-model-'))
/** What the models were sent, and the tools that ran. The files of the agents write here. */
const sent: string[][] = []
Object.assign(globalThis, { sentToOwnModels: sent })

const streams = `async *_streamResponseChunks(messages, options, run) {
    const { generations: [{ message }] } = await this._generate(messages)
    const calls = (message.tool_calls ?? []).map(({ id, name, args }, index) => ({ index, id, name, args: JSON.stringify(args) }))
    const chunk = new ChatGenerationChunk({ text: message.text, message: new AIMessageChunk({ content: message.content, tool_call_chunks: calls }) })
    yield chunk
    await run?.handleLLMNewToken(message.text, undefined, undefined, undefined, undefined, { chunk })
  }`
const source = (more: string): string => `
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk, ToolMessage } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
class Own extends BaseChatModel {
  _llmType() { return 'own' }
  async _generate(messages) {
    globalThis.sentToOwnModels.push(messages.map((message) => message.getType() + ': ' + message.text))
    const last = messages.at(-1)
    const call = { type: 'tool_call', id: 'call_1', name: 'look', args: { at: 'sky' } }
    const message = last.getType() === 'tool' ? new AIMessage('It is ' + last.text) : new AIMessage({ content: '', tool_calls: [call] })
    return { generations: [{ text: message.text, message }] }
  }
  ${more}
}
const chat = new Own({})
const system = { role: 'system', content: 'Be brief.' }
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('talk', async ({ messages }) => ({ messages: [await chat.invoke([system, ...messages])] }))
  .addNode('look', ({ messages }) => {
    globalThis.sentToOwnModels.push(['the tool ran'])
    return { messages: messages.at(-1).tool_calls.map(({ id, name }) => new ToolMessage({ content: 'blue', tool_call_id: id, name })) }
  })
  .addEdge('__start__', 'talk')
  .addConditionalEdges('talk', ({ messages }) => (messages.at(-1).tool_calls?.length > 0 ? 'look' : '__end__'), ['look', '__end__'])
  .addEdge('look', 'talk')
  .compile()
`

let log: EventLog
let server: Awaited<ReturnType<typeof testServer>>
let address: string
beforeAll(async () => {
  const agents = authorFolder(join(folder, 'agents'), { whole: source(''), streamed: source(streams) })
  log = await sqliteLog({ folder: join(folder, 'data'), now: Date.now })
  server = await testServer({ log, agents: discoverAgents(agents, { models: {} }) })
  address = await server.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(async () => {
  await server.close(0)
  await log.close()
  rmSync(folder, { recursive: true })
  Reflect.deleteProperty(globalThis, 'sentToOwnModels')
})

const post = async <T>(path: string, body: object): Promise<T> => {
  const response = await fetch(`${address}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  expect(response.status, text).toBeLessThan(300)
  return JSON.parse(text) as T
}
const rowsOf = (id: string): Promise<readonly Recorded[]> => log.read(id, { after: 0 })

test.each(['whole', 'streamed'])(
  'SPEC 4.10: the model that an author brings is sent the changed request (%s)',
  async (agent) => {
    const messages = [{ id: 'm1', role: 'user', content: { role: 'user', parts: [{ text: 'What colour?' }] } }]
    const { run } = await post<{ run: string }>(`/sessions/of-${agent}/runs`, { agent, input: { messages } })
    await server.engine.wait(`of-${agent}`, run)
    const calls = (await rowsOf(`of-${agent}`)).flatMap(({ event }) =>
      event.kind === 'model.started' ? [event.call] : [],
    )
    expect(calls).toHaveLength(2)

    const changed = async (words: { readonly system?: string; readonly contents?: readonly Json[] }) => {
      sent.length = 0
      const change = { field: 'prompt', run, call: calls[1], ...words }
      const made = await post<{ session: SessionInfo; run: string }>(`/sessions/of-${agent}/run-on`, { change })
      expect(await server.engine.wait(made.session.id, made.run)).toBe('done')
      return rowsOf(made.session.id)
    }
    const rows = await changed({ system: 'Be long.' })
    // Neither the first call nor the tool comes again.
    expect(sent).toEqual([['system: Be long.', 'human: What colour?', 'ai: ', 'tool: blue']])
    const request = rows.findLast(({ event }) => event.kind === 'model.started')?.event
    expect(JSON.stringify(request)).toContain('Be long.')

    const answer = { functionResponse: { id: 'call_1', name: 'look', response: { result: 'red' } } }
    const call = { functionCall: { id: 'call_1', name: 'look', args: { at: 'sky' } } }
    await changed({
      contents: [
        { role: 'user', parts: [{ text: 'Which colour?' }] },
        { role: 'model', parts: [call] },
        { role: 'user', parts: [answer] },
      ],
    })
    expect(sent).toEqual([['system: Be brief.', 'human: Which colour?', 'ai: ', 'tool: red']])
  },
)
