import { createRequire } from 'node:module'
import { HttpAgent as Current } from '@ag-ui/client'
import { LlmAgent } from '@google/adk'
import type { AdkPart, RunEvent } from '@millrace/core'
import { adkAgent, discoverAgents } from '@millrace/server'
import { call, model, type OfflineRequest, type OfflineTurn, say } from '@millrace/server/adk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exampleAgents } from '../kit/built-packages.ts'
import { scriptedAgent } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'

// Every CopilotKit and assistant-ui install brings an AG-UI client of its own age, and each is served what it reads.

/** What the clients of all versions have in common. */
interface Client {
  readonly threadId: string
  readonly messages: readonly Message[]
  readonly state: unknown
  addMessage(message: Message): void
  runAgent(parameters: Parameters, subscriber: Subscriber): Promise<unknown>
}
interface Message {
  readonly id: string
  readonly role: string
  readonly content?: unknown
  readonly toolCallId?: string
  readonly toolCalls?: readonly { readonly id: string; readonly function: { readonly name: string } }[]
}
interface Parameters {
  readonly runId?: string
  readonly tools?: readonly unknown[]
}
interface Subscriber {
  onEvent(received: { readonly event: Event }): void
}
interface Event {
  readonly type: string
  readonly [field: string]: unknown
}
type Make = new (config: { readonly url: string; readonly threadId: string }) => Client

// The ES builds of 0.x cannot find `applyPatch` in Node, so that state would never change; the CommonJS builds can.
const require = createRequire(import.meta.url)
const versions: readonly (readonly [string, Make])[] = [
  ['1.0.0', Current as unknown as Make],
  ['0.0.59', require('ag-ui-client-0.0.59').HttpAgent],
  ['0.0.55', require('ag-ui-client-0.0.55').HttpAgent],
  ['0.0.52', require('ag-ui-client-0.0.52').HttpAgent],
  ['0.0.46', require('ag-ui-client-0.0.46').HttpAgent],
]

/** Asks for a colour with a tool that the client runs, and says which it is. */
const asks = ({ step, results }: OfflineRequest): OfflineTurn =>
  step === 0 ? call('pick_colour', { of: 'sky' }) : say(`It is ${JSON.stringify(results[0]?.response)}`)
const pickColour = {
  name: 'pick_colour',
  description: 'Ask the person for a colour',
  parameters: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] },
}

/** Two agents of one name at work side by side: both think, both speak, and the first calls a tool after the second spoke. */
function* team(): Generator<RunEvent> {
  const at = (node: string, message: string, parts: readonly AdkPart[]): RunEvent => ({
    kind: 'agent',
    node,
    message,
    event: {
      id: `${message} ${JSON.stringify(parts).length}`,
      author: 'searcher',
      invocationId: 'inv',
      timestamp: 1_767_081_391_000,
      content: { role: 'model', parts },
    },
  })
  yield { kind: 'node.started', node: 'team', agent: 'team' }
  yield { kind: 'node.started', node: 'searcher@1', agent: 'searcher', parent: 'team' }
  yield { kind: 'node.started', node: 'searcher@2', agent: 'searcher', parent: 'team' }
  yield at('searcher@1', 'one', [{ text: 'Where to look?', thought: true }, { text: 'I look left.' }])
  yield at('searcher@2', 'two', [{ text: 'The other side.', thought: true }, { text: 'I look right.' }])
  yield at('searcher@1', 'one', [{ functionCall: { id: 'find', name: 'find', args: { side: 'left' } } }])
  const found = { inlineData: { data: 'aGk=', mimeType: 'image/png' } }
  const functionResponse = { id: 'find', name: 'find', response: { found: 1 }, parts: [found] }
  yield at('searcher@1', 'found', [{ functionResponse }])
  yield { kind: 'node.finished', node: 'searcher@1', status: 'ok' }
  const error = { code: 'agent-error', message: 'nothing there' } as const
  yield { kind: 'node.finished', node: 'searcher@2', status: 'error', error }
  yield { kind: 'node.finished', node: 'team', status: 'ok' }
}

describe.each(versions)('@ag-ui/client %s', (version, Agent) => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  beforeAll(async () => {
    const shipped = discoverAgents(exampleAgents, {
      models: { tokensPerSecond: 0 },
    })
    const asker = adkAgent('asker', async () => new LlmAgent({ name: 'asker', model: model({ offline: asks }) }))
    const agents = new Map([...shipped.agents, ['asker', asker], ['team', scriptedAgent('team', team)]] as const)
    server = await testServer({ agents: { agents }, fallback: 'assistant' })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(() => server.close(0))

  let ids = 0
  const thread = (path = ''): Client => new Agent({ url: `${address}/${path}`, threadId: `thread-${++ids}` })
  const run = async (client: Client, parameters: Parameters = {}): Promise<readonly Event[]> => {
    const events: Event[] = []
    await client.runAgent(parameters, { onEvent: ({ event }) => void events.push(event) })
    return events
  }
  const ask = (client: Client, content: unknown, parameters?: Parameters) => {
    client.addMessage({ id: `user-${++ids}`, role: 'user', content })
    return run(client, parameters)
  }
  const typesOf = (events: readonly Event[]) => events.map(({ type }) => type)
  const said = ({ messages }: Client) => messages.map(({ role, content }) => [role, content])

  test('a chat of two turns', async () => {
    const client = thread()
    const events = await ask(client, 'Hello')
    expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
    await ask(client, 'Add a proverb: Still waters run deep')
    expect(client.state).toMatchObject({ proverbs: ['Still waters run deep'] })
    expect(said(client).slice(0, 3)).toEqual([
      ['user', 'Hello'],
      ['assistant', 'Hello! How can I help you?'],
      ['user', 'Add a proverb: Still waters run deep'],
    ])
  })

  test('a tool of the server, with reasoning', async () => {
    const client = thread()
    const weather = await ask(client, 'What is the weather in Lisbon?')
    expect(typesOf(weather)).toContain('TOOL_CALL_RESULT')
    expect(client.messages.filter(({ role }) => role === 'tool')).toHaveLength(1)
    const sum = await ask(client, 'What is 17 * 23?')
    expect(typesOf(sum)).toContain('REASONING_MESSAGE_CONTENT')
    expect(client.messages.some(({ role }) => role === 'reasoning')).toBe(true)
    expect(said(client).at(-1)).toEqual(['assistant', '17 * 23 = 391'])
  })

  test('a tool of the client is called, and its answer goes on in a second run', async () => {
    const client = thread('ag-ui/asker')
    const events = await ask(client, 'Which colour?', { tools: [pickColour] })
    expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
    const asked = client.messages.flatMap(({ toolCalls = [] }) => toolCalls)
    expect(asked).toMatchObject([{ function: { name: 'pick_colour', arguments: '{"of":"sky"}' } }])
    client.addMessage({ id: `tool-${++ids}`, role: 'tool', toolCallId: asked[0]?.id ?? '', content: 'blue' })
    await run(client, { tools: [pickColour] })
    expect(said(client).at(-1)).toEqual(['assistant', 'It is {"result":"blue"}'])
  })

  test('agents side by side: what each thinks, says and does', async () => {
    const client = thread('ag-ui/team')
    const events = await ask(client, 'Search')
    expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
    expect(new Set(client.messages.map(({ id }) => id)).size).toBe(client.messages.length)
    expect(said(client)).toEqual(
      expect.arrayContaining([
        ['reasoning', 'Where to look?'],
        ['assistant', 'I look left.'],
        ['reasoning', 'The other side.'],
        ['assistant', 'I look right.'],
      ]),
    )
    expect(client.messages.flatMap(({ toolCalls = [] }) => toolCalls)).toMatchObject([{ function: { name: 'find' } }])
    const nodes = events.filter(({ type }) => /^(STEP|SUBAGENT)_/.test(type))
    expect(nodes.map(({ type, name, stepName }) => [type, name ?? stepName])).toEqual(
      version === '1.0.0'
        ? [
            ['SUBAGENT_STARTED', 'searcher'],
            ['SUBAGENT_STARTED', 'searcher'],
            ['SUBAGENT_FINISHED', undefined],
            ['SUBAGENT_ERROR', undefined],
          ]
        : [
            ['STEP_STARTED', 'searcher'],
            ['STEP_STARTED', 'searcher@2'],
            ['STEP_FINISHED', 'searcher'],
            ['STEP_FINISHED', 'searcher@2'],
          ],
    )
  })

  test('a failure is RUN_ERROR with the reason, and the thread goes on', async () => {
    const client = thread()
    const events = await ask(client, 'Simulate a model failure')
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: expect.stringContaining('overloaded') })
    await ask(client, 'Hello')
    expect(said(client).at(-1)).toEqual(['assistant', 'Hello! How can I help you?'])
  })

  test('a question to the person ends the run, and the client can go on', async () => {
    const client = thread()
    await ask(client, 'Add a proverb: One')
    const events = await ask(client, 'Delete all proverbs')
    expect(typesOf(events).at(-1)).toBe('RUN_FINISHED')
    expect(client.state).toMatchObject({ proverbs: ['One'] })
  })

  test('the stream is re-joined as it was', async () => {
    const client = thread('ag-ui/team')
    await ask(client, 'Search', { runId: 'r1' })
    const body = {
      threadId: client.threadId,
      runId: 'r1',
      messages: [],
      ...(version === '1.0.0' ? { protocolVersion: '1.0' } : {}),
    }
    const headers = { 'content-type': 'application/json' }
    const url = `${address}/ag-ui/team`
    const first = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    const place = new URL(first.headers.get('content-location') ?? '', url)
    expect(await (await fetch(place)).text()).toBe(await first.text())
  })
})
