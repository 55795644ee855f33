import { HttpAgent } from '@ag-ui/client'
import { AgentCapabilitiesSchema } from '@ag-ui/core/schemas'
import { LlmAgent } from '@google/adk'
import { adkAgent, discoverAgents } from '@millrace/server'
import { call, model, type OfflineRequest, type OfflineTurn, say } from '@millrace/server/adk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exampleAgents } from '../kit/built-packages.ts'
import { scriptedAgent, speech, textOf } from '../kit/scripted-agent.ts'
import { testServer } from '../kit/server.ts'
import { aborted } from '../kit/waiting.ts'

/** Asks the client for a colour, with the client's own tool, and says which it is. */
const asks = ({ step, results }: OfflineRequest): OfflineTurn =>
  step === 0 ? call('pick_colour', { of: 'sky' }) : say(`It is ${JSON.stringify(results[0]?.response)}`)

/** Begins to tell something and never ends by itself, so that an abort always comes before the end; greets otherwise. */
const teller = scriptedAgent('teller', async function* (input, { signal }) {
  if (textOf(input) === 'Hello') return yield* speech('teller', 'Hello!', { message: 'greeting' })
  yield* speech('teller', 'Once upon a time', { message: 'story' })
  await aborted(signal)
})

/** The official client against the running server, with the agents that ship with it. */
describe('the official AG-UI client', () => {
  let server: Awaited<ReturnType<typeof testServer>>
  let address: string
  beforeAll(async () => {
    const agents = discoverAgents(exampleAgents, {
      models: { tokensPerSecond: 0 },
    })
    const asker = adkAgent('asker', async () => new LlmAgent({ name: 'asker', model: model({ offline: asks }) }))
    server = await testServer({
      agents: { agents: new Map([...agents.agents, ['asker', asker], ['teller', teller]]) },
      fallback: 'assistant',
    })
    address = await server.app.listen({ port: 0, host: '127.0.0.1' })
  })
  afterAll(() => server.close(0))

  let ids = 0
  const thread = (agent = 'assistant', headers?: Record<string, string>) =>
    new HttpAgent({
      url: `${address}/ag-ui/${agent}`,
      threadId: `thread-${++ids}`,
      ...(headers === undefined ? {} : { headers }),
    })
  const say = async (agent: HttpAgent, content: string) => {
    agent.addMessage({ id: `user-${++ids}`, role: 'user', content })
    const seen: string[] = []
    const failures: string[] = []
    const result = await agent.runAgent(
      {},
      {
        onEvent: ({ event }) => {
          seen.push(event.type)
        },
        onRunErrorEvent: ({ event }) => {
          failures.push(event.message)
        },
      },
    )
    return { seen, failures, result }
  }
  const lastText = (agent: HttpAgent): string => {
    const last = agent.messages.findLast(({ role }) => role === 'assistant')
    return typeof last?.content === 'string' ? last.content : ''
  }

  test('chat, state and a second turn that remembers', async () => {
    const agent = thread()
    const { seen } = await say(agent, 'Hello')
    expect(seen[0]).toBe('RUN_STARTED')
    expect(seen.at(-1)).toBe('RUN_FINISHED')
    expect(lastText(agent)).toBe('Hello! How can I help you?')
    await say(agent, 'Add a proverb: Still waters run deep')
    expect(agent.state).toMatchObject({ proverbs: ['Still waters run deep'] })
    await say(agent, 'List my proverbs')
    expect(lastText(agent)).toContain('1. Still waters run deep')
  })

  test('a tool call and its result', async () => {
    const agent = thread()
    const { seen } = await say(agent, 'What is the weather in Lisbon?')
    expect(seen).toEqual(
      expect.arrayContaining(['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END', 'TOOL_CALL_RESULT']),
    )
    expect(agent.messages.some(({ role }) => role === 'tool')).toBe(true)
  })

  test('reasoning', async () => {
    const agent = thread()
    const { seen } = await say(agent, 'What is 17 * 23?')
    expect(seen).toContain('REASONING_MESSAGE_CONTENT')
    expect(lastText(agent)).toBe('17 * 23 = 391')
  })

  test('a tool of the client is called, run by the client, and its result goes on', async () => {
    const agent = thread('asker')
    agent.addMessage({ id: `user-${++ids}`, role: 'user', content: 'Which colour?' })
    const parameters = { type: 'object', properties: { of: { type: 'string' } }, required: ['of'] }
    const tools = [{ name: 'pick_colour', description: 'Ask the person for a colour', parameters }]
    await agent.runAgent({ tools })
    const asked = agent.messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    expect(asked).toMatchObject([{ function: { name: 'pick_colour', arguments: '{"of":"sky"}' } }])
    agent.addMessage({ id: `tool-${++ids}`, role: 'tool', toolCallId: asked[0]?.id ?? '', content: 'blue' })
    await agent.runAgent({ tools })
    expect(lastText(agent)).toContain('blue')
    expect(agent.messages.filter(({ role }) => role === 'tool')).toHaveLength(1)
  })

  test('the default agent, unless forwardedProps name another; capabilities that are true', async () => {
    const agent = new HttpAgent({ url: `${address}/`, threadId: `thread-${++ids}` })
    agent.addMessage({ id: `user-${++ids}`, role: 'user', content: 'Hello' })
    await agent.runAgent({})
    expect(await server.log.get(agent.threadId)).toMatchObject({ agent: 'assistant' })
    const other = new HttpAgent({ url: `${address}/`, threadId: `thread-${++ids}` })
    other.addMessage({ id: `user-${++ids}`, role: 'user', content: 'Plan a competitor analysis of the CRM market' })
    await other.runAgent({ forwardedProps: { agent: 'planner' } })
    expect(await server.log.get(other.threadId)).toMatchObject({ agent: 'planner' })
    const capabilities = async (name: string) =>
      AgentCapabilitiesSchema.parse(await (await fetch(`${address}/ag-ui/${name}/capabilities`)).json())
    expect(await capabilities('assistant')).toMatchObject({
      identity: { name: 'assistant', type: 'adk' },
      transport: { streaming: true, httpBinary: true, websocket: false },
      tools: {
        supported: true,
        clientProvided: true,
        items: expect.arrayContaining([
          { name: 'get_weather', description: expect.stringContaining('The weather of a city') },
        ]),
      },
      state: { snapshots: true, deltas: true },
      multiAgent: { supported: false },
      humanInTheLoop: { interrupts: true },
    })
    expect(await capabilities('recovery')).toMatchObject({ multiAgent: { supported: true } })
    expect(await capabilities('planner')).toMatchObject({
      tools: { clientProvided: false },
      reasoning: { supported: false },
    })
  })

  test('an interrupt is asked, answered, and goes on', async () => {
    const agent = thread()
    await say(agent, 'Add a proverb: One')
    await say(agent, 'Delete all proverbs')
    expect(agent.pendingInterrupts).toHaveLength(1)
    expect(agent.state).toMatchObject({ proverbs: ['One'] })
    await agent.runAgent({
      resume: [{ interruptId: agent.pendingInterrupts[0]!.id, status: 'resolved', payload: { approved: true } }],
    })
    expect(agent.state).toMatchObject({ proverbs: [] })
    expect(lastText(agent)).toContain('deleted')
  })

  test('a failure is RUN_ERROR with the reason', async () => {
    const { seen, failures } = await say(thread(), 'Simulate a model failure')
    expect(seen.at(-1)).toBe('RUN_ERROR')
    expect(failures[0]).toContain('overloaded')
  })

  test('two threads at once do not mix', async () => {
    const [one, two] = [thread(), thread()]
    await Promise.all([say(one, 'Add a proverb: First'), say(two, 'Add a proverb: Second')])
    expect(one.state).toMatchObject({ proverbs: ['First'] })
    expect(two.state).toMatchObject({ proverbs: ['Second'] })
  })

  test('abort, then a new run on the same thread', async () => {
    const agent = thread('teller')
    agent.addMessage({ id: `user-${++ids}`, role: 'user', content: 'Tell me a story' })
    await agent.runAgent({}, { onTextMessageContentEvent: () => agent.abortRun() })
    expect(await server.log.get(agent.threadId)).toMatchObject({ status: 'running', runs: 1 })
    const { seen } = await say(agent, 'Hello')
    expect(seen.at(-1)).toBe('RUN_FINISHED')
    expect(lastText(agent)).toBe('Hello!')
  })

  test('protobuf for a client that names it exactly', async () => {
    const agent = thread('assistant', { accept: 'application/vnd.ag-ui.event+proto' })
    await say(agent, 'Hello')
    expect(lastText(agent)).toBe('Hello! How can I help you?')
  })

  test('the same run asked for again is heard again, not run again', async () => {
    const body = {
      threadId: 'again',
      runId: 'r1',
      messages: [{ id: '1', role: 'user', content: 'Add a proverb: Once' }],
    }
    const post = async () =>
      (
        await fetch(`${address}/`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).text()
    const first = await post()
    expect(await post()).toBe(first)
    expect((await server.log.get('again'))?.runs).toBe(1)
  })

  test.each([
    ['null', 'null', 422],
    ['an array', '[]', 422],
    ['no messages', '{"threadId":"t","runId":"r"}', 422],
    ['wrong types', '{"threadId":1,"runId":{},"messages":"x"}', 422],
    ['malformed', '{"threadId":', 400],
  ])('%s is refused as JSON with the paths', async (_name, body, status) => {
    const answer = await fetch(`${address}/`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('content-type')).toContain('application/json')
    const problem = (await answer.json()) as { errors?: unknown[] }
    if (status === 422) expect(problem.errors?.length).toBeGreaterThan(0)
  })
})
