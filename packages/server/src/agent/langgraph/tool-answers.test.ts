import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { Command, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { type AgentMiddleware, createAgent, createMiddleware, toolRetryMiddleware, toolStrategy } from 'langchain'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { FakeModel } from '../../../../../test/authors/kit/fake-model.ts'
import { outline, said, testSession } from '../../../../../test/kit/run-agent.ts'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'

// The answer of a tool is what the graph makes of it: middleware may redact or replace what the tool returned.

const secret = tool(async () => 'the password is 1234', { name: 'secret', description: 'Tells', schema: z.object({}) })
const failing = tool(
  async () => {
    throw new Error('no network')
  },
  { name: 'failing', description: 'Fails', schema: z.object({}) },
)

const sessionOf = (graph: unknown) => testSession(graphAgent('g', async () => ({ graph: graph as CompiledGraph })))
const responses = (events: Parameters<typeof said>[0]) =>
  said(events).flatMap(({ event }) =>
    (event.content?.parts ?? []).flatMap(({ functionResponse }) => functionResponse?.response ?? []),
  )

describe('createAgent with middleware around its tools', () => {
  const calling = (name: string) =>
    new FakeModel((messages) =>
      messages.at(-1)?.getType() === 'tool' ? { text: 'done' } : { calls: [{ id: 'c1', name, args: {} }] },
    )

  test('a result that is replaced is in the log as the model sees it, and only so', async () => {
    const redacting = createMiddleware({
      name: 'redacting',
      wrapToolCall: async (request, handler) => {
        await handler(request)
        return new ToolMessage({ content: 'redacted', tool_call_id: request.toolCall.id ?? '', name: 'secret' })
      },
    })
    const { graph } = createAgent({ model: calling('secret'), tools: [secret], middleware: [redacting] })
    const session = sessionOf(graph)
    const events = await session.run('hi')
    expect(responses(events)).toEqual([{ result: 'redacted' }])
    expect(JSON.stringify(events)).not.toContain('1234')
  })

  test('an error that is handled is no error', async () => {
    const handling = createMiddleware({
      name: 'handling',
      wrapToolCall: async (request, handler) => {
        try {
          return await handler(request)
        } catch {
          return new ToolMessage({ content: 'try later', tool_call_id: request.toolCall.id ?? '', name: 'failing' })
        }
      },
    })
    const { graph } = createAgent({ model: calling('failing'), tools: [failing], middleware: [handling] })
    expect(responses(await sessionOf(graph).run('hi'))).toEqual([{ result: 'try later' }])
  })
})

describe('a tool that is run again for one call', () => {
  const calls = [
    { id: 'c1', name: 'flaky', args: { city: 'Rome' } },
    { id: 'c2', name: 'flaky', args: { city: 'Oslo' } },
  ]
  const model = new FakeModel((messages) =>
    messages.at(-1)?.getType() === 'tool' ? { text: messages.slice(-2).map(lastOf).join() } : { calls },
  )
  const lastOf = ({ text }: { text: string }): string => text
  const flaky = (tries: Map<string, number>) =>
    tool(
      async ({ city }: { city: string }) => {
        tries.set(city, (tries.get(city) ?? 0) + 1)
        if ((tries.get(city) ?? 0) < 3) throw new Error(`no network in ${city}`)
        return `sun in ${city}`
      },
      { name: 'flaky', description: 'Fails twice', schema: z.object({ city: z.string() }) },
    )
  const answersOf = (events: Parameters<typeof said>[0]) =>
    said(events).flatMap(({ event }) =>
      (event.content?.parts ?? []).flatMap(({ functionResponse: given }) =>
        given === undefined ? [] : [`${given.id} ${given.response?.result ?? given.response?.error}`],
      ),
    )
  const callsOf = (events: Parameters<typeof said>[0]) =>
    said(events).flatMap(({ event }) => (event.content?.parts ?? []).flatMap((part) => part.functionCall?.id ?? []))

  // Its types compile only without `exactOptionalPropertyTypes`.
  const retries = (maxRetries: number) =>
    toolRetryMiddleware({ maxRetries, initialDelayMs: 1, jitter: false }) as unknown as AgentMiddleware

  test('has one call and one answer, the last one', async () => {
    const { graph } = createAgent({ model, tools: [flaky(new Map())], middleware: [retries(3)] })
    const events = await sessionOf(graph).run('hi')
    expect(callsOf(events)).toEqual(['c1', 'c2'])
    expect(answersOf(events).toSorted()).toEqual(['c1 sun in Rome', 'c2 sun in Oslo'])
  })

  test('also where the tools of one node run beside each other', async () => {
    const again = new ToolNode([flaky(new Map())])
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('think', async ({ messages }, config) => ({ messages: [await model.invoke(messages, config)] }))
      .addNode('tools', async (state, config) => {
        await Promise.all([again.invoke(state, config), again.invoke(state, config)])
        return again.invoke(state, config)
      })
      .addEdge(START, 'think')
      .addEdge('think', 'tools')
      .addEdge('tools', END)
      .compile()
    const events = await sessionOf(graph).run('hi')
    expect(new Set(answersOf(events)).size).toBe(answersOf(events).length)
    expect(callsOf(events).length).toBe(answersOf(events).length)
  })

  test('keeps its error where it fails to the end', async () => {
    const { graph } = createAgent({ model, tools: [flaky(new Map())], middleware: [retries(1)] })
    const answers = answersOf(await sessionOf(graph).run('hi'))
    expect(answers.toSorted()).toEqual([
      expect.stringContaining('c1 no network in Rome'),
      expect.stringContaining('c2 no network in Oslo'),
    ])
  })
})

test('a tool that hands over to another agent is answered with the message of its command', async () => {
  const hand = tool(
    async (_, config) => {
      const done = new ToolMessage({ content: 'over to bob', name: 'hand', tool_call_id: String(config.toolCall?.id) })
      return new Command({ goto: 'bob', graph: Command.PARENT, update: { messages: [done] } })
    },
    { name: 'hand', description: 'Hands over', schema: z.object({}) },
  )
  const ann = createAgent({
    model: new FakeModel(() => ({ calls: [{ id: 'h', name: 'hand', args: {} }] })),
    tools: [hand],
  })
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('ann', ann.graph as never, { ends: ['bob'] })
    .addNode('bob', () => ({ messages: [new AIMessage('I am bob')] }))
    .addEdge(START, 'ann')
    .compile()
  expect(responses(await sessionOf(graph).run('hi'))).toEqual([{ result: 'over to bob' }])
})

test('a structured response is in the state after its run, and the next run begins without it', async () => {
  const model = new FakeModel((messages) => ({
    calls: [{ id: `x${messages.length}`, name: 'extract-1', args: { count: messages.length } }],
  }))
  const { graph } = createAgent({ model, tools: [], responseFormat: toolStrategy(z.object({ count: z.number() })) })
  const session = sessionOf(graph)
  await session.run('hi')
  expect(session.state.structuredResponse).toEqual({ count: 1 })
  // A client of AG-UI sends the state back with its next message.
  const messages = [{ id: 'm2', role: 'user', content: { role: 'user', parts: [{ text: 'again' }] } }] as const
  const events = await session.run({ messages, state: session.state })
  const patched = events.flatMap((event) => (event.kind === 'state' ? event.patch : []))
  expect(patched.filter(({ path }) => path.startsWith('/structuredResponse'))).toEqual([
    { op: 'remove', path: '/structuredResponse' },
    { op: 'add', path: '/structuredResponse', value: session.state.structuredResponse },
  ])
})

test('a tool that a node calls itself is answered before the node goes on', async () => {
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('work', async (_, config) => {
      const first = await secret.invoke({}, config)
      await secret.invoke({}, config)
      return { messages: [new AIMessage(`used ${String(first).length} letters`)] }
    })
    .addEdge(START, 'work')
    .addEdge('work', END)
    .compile()
  const lines = outline(await sessionOf(graph).run('hi')).filter((line) => line !== 'state' && line !== 'log')
  expect(lines).toEqual([
    '> work@1',
    'work call secret',
    'work answer secret',
    'work call secret',
    'work answer secret',
    'work “used 20 letters”',
    '< work@1',
  ])
})

test('a node that throws after its tool has ended keeps the answer', async () => {
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('work', async (_, config) => {
      await secret.invoke({}, config)
      throw new Error('after the tool')
    })
    .addEdge(START, 'work')
    .addEdge('work', END)
    .compile()
  const session = sessionOf(graph)
  await expect(session.run('hi')).rejects.toThrow('after the tool')
  const kinds = outline(session.rows.map(({ event }) => event))
  expect(kinds.indexOf('work answer secret')).toBeGreaterThan(0)
  expect(kinds.indexOf('work answer secret')).toBeLessThan(kinds.indexOf('< work@1 error'))
})
