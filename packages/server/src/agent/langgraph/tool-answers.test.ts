import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createAgent, createMiddleware } from 'langchain'
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
