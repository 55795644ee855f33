import { AIMessage } from '@langchain/core/messages'
import {
  Annotation,
  Command,
  END,
  entrypoint,
  InMemoryStore,
  type LangGraphRunnableConfig,
  MessagesAnnotation,
  pushMessage,
  START,
  StateGraph,
  task,
} from '@langchain/langgraph'
import { InMemoryCache } from '@langchain/langgraph-checkpoint'
import { fold, problemsView, type RunEvent, type RunInput } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { outline, testSession } from '../../../../../test/kit/run-agent.ts'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'

// Shapes of the framework's documentation that are more than nodes and edges.

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  parts: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})
const agentOf = (graph: unknown) => graphAgent('g', async () => ({ graph: graph as CompiledGraph }))
const sessionOf = (graph: unknown) => testSession(agentOf(graph))
const quiet = (events: readonly RunEvent[]) => outline(events).filter((line) => line !== 'state' && line !== 'log')
const warnings = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.kind === 'log' && event.level === 'warn' ? [event.message] : []))

test('a message that a node pushes is said before the node ends, and once', async () => {
  const graph = new StateGraph(State)
    .addNode('talk', async (_state, config: LangGraphRunnableConfig) => {
      pushMessage(new AIMessage({ id: 'early', content: 'one moment' }), config)
      config.writer?.('after it')
      return { messages: [new AIMessage('done')] }
    })
    .addEdge(START, 'talk')
    .addEdge('talk', END)
    .compile()
  const session = sessionOf(graph)
  expect(quiet(await session.run('go'))).toEqual(['> talk@1', 'talk “one moment”', 'talk “done”', '< talk@1'])
  expect((session.state.messages as { content: string }[]).map(({ content }) => content)).toEqual([
    'go',
    'one moment',
    'done',
  ])
})

test('a graph gets the pictures and files of a message as blocks that every LangChain model reads', async () => {
  const graph = new StateGraph(State)
    .addNode('look', ({ messages }) => ({ parts: [JSON.stringify(messages.at(-1)?.content)] }))
    .addEdge(START, 'look')
    .addEdge('look', END)
    .compile()
  const session = sessionOf(graph)
  const parts = [
    { text: 'What is this?' },
    { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
    { fileData: { mimeType: 'application/pdf', fileUri: 'https://example.com/a.pdf', displayName: 'a.pdf' } },
  ]
  await session.run({ messages: [{ id: 'm', role: 'user', content: { role: 'user', parts } }] })
  const [seen = ''] = session.state.parts as string[]
  expect(JSON.parse(seen)).toEqual([
    { type: 'text', text: 'What is this?' },
    { type: 'image', source_type: 'base64', data: 'AAAA', mime_type: 'image/png' },
    {
      type: 'file',
      source_type: 'url',
      url: 'https://example.com/a.pdf',
      mime_type: 'application/pdf',
      metadata: { filename: 'a.pdf', name: 'a.pdf' },
    },
  ])
})

describe('a workflow of the functional API', () => {
  const double = task('double', async (n: number) => 2 * n)

  test('says the text that it returns, and has its tasks inside', async () => {
    const session = sessionOf(entrypoint('sum', async () => `it is ${(await double(2)) + (await double(3))}`))
    expect(quiet(await session.run('go'))).toEqual([
      '> sum@1',
      '> sum/double@1',
      '< sum/double@1',
      '> sum/double@2',
      '< sum/double@2',
      'sum “it is 10”',
      '< sum@1',
    ])
    expect(session.state).toEqual({ __end__: 'it is 10' })
  })

  test('has the value of `entrypoint.final` as its state, and the messages in it are said', async () => {
    const flow = entrypoint('sum', async () =>
      entrypoint.final({ value: { total: 1, messages: [new AIMessage('one')] }, save: { hidden: 2 } }),
    )
    const session = sessionOf(flow)
    expect(quiet(await session.run('go'))).toEqual(['> sum@1', 'sum “one”', '< sum@1'])
    expect(session.state.total).toBe(1)
    expect(session.state.hidden).toBeUndefined()
  })

  test('is drawn as its one node', async () => {
    const { graph } = await agentOf(entrypoint('sum', async () => 1)).describe()
    expect(graph.nodes.map(({ id, kind }) => [id, kind])).toEqual([
      ['__start__', 'start'],
      ['sum', 'step'],
      ['__end__', 'end'],
    ])
    expect(graph.edges).toEqual([
      { from: '__start__', to: 'sum' },
      { from: 'sum', to: '__end__' },
    ])
  })
})

test('a node that takes its answer from a cache has said it, between its neighbours', async () => {
  const graph = new StateGraph(State)
    .addNode('first', () => ({ parts: ['first'] }))
    .addNode('look', () => ({ parts: ['look'], messages: [new AIMessage('looked')] }), {
      cachePolicy: { keyFunc: () => 'always' },
    })
    .addNode('last', () => ({ parts: ['last'] }))
    .addEdge(START, 'first')
    .addEdge('first', 'look')
    .addEdge('look', 'last')
    .addEdge('last', END)
    .compile({ cache: new InMemoryCache() })
  const session = sessionOf(graph)
  const once = ['> first@1', '< first@1', '> look@1', 'look “looked”', '< look@1', '> last@1', '< last@1']
  expect(quiet(await session.run('go'))).toEqual(once)
  const again = await session.run({
    messages: [{ id: 'm2', role: 'user', content: { role: 'user', parts: [{ text: 'go' }] } }],
  })
  expect(quiet(again)).toEqual(once)
  expect(again.flatMap((event) => (event.kind === 'node.started' ? [event.after] : []))).toEqual([
    undefined,
    ['first@1'],
    ['look@1'],
  ])
  expect(session.state.parts).toEqual(['first', 'look', 'last', 'first', 'look', 'last'])
  expect(fold(problemsView, session.rows).problems.toArray()).toEqual([])
})

test('a node whose error handler takes over has failed, and the handler comes after it', async () => {
  const graph = new StateGraph(State)
    .addNode(
      'broken',
      () => {
        throw new Error('no bread')
      },
      {
        errorHandler: (_state, { error }) =>
          new Command({ goto: 'sorry', update: { parts: [(error as Error).message] } }),
      },
    )
    .addNode('sorry', ({ parts }) => ({ messages: [new AIMessage(`sorry: ${parts.join()}`)] }))
    .addEdge(START, 'broken')
    .addEdge('sorry', END)
    .compile()
  const session = sessionOf(graph)
  const events = await session.run('go')
  expect(quiet(events)).toEqual([
    '> broken@1',
    '< broken@1 error',
    '> __error_handler__broken@1',
    '< __error_handler__broken@1',
    '> sorry@1',
    'sorry “sorry: no bread”',
    '< sorry@1',
  ])
  expect(events.flatMap((event) => (event.kind === 'node.started' ? [event.after] : []))).toEqual([
    undefined,
    ['broken@1'],
    ['__error_handler__broken@1'],
  ])
  const { graph: drawn } = await agentOf(graph).describe()
  expect(drawn.edges).toContainEqual({ from: 'broken', to: '__error_handler__broken' })
})

describe('the limit of steps', () => {
  const loop = () =>
    new StateGraph(State)
      .addNode('again', ({ parts }) => ({ parts: [`${parts.length}`] }))
      .addEdge(START, 'again')
      .addConditionalEdges('again', ({ parts }) => (parts.length < 60 ? 'again' : END))
      .compile()

  test('is the author’s, where there is one', async () => {
    await expect(sessionOf(loop().withConfig({ recursionLimit: 5 })).run('go')).rejects.toThrow(/limit of 5/)
  })

  test('is wide enough for a long loop', async () => {
    const session = sessionOf(loop())
    await session.run('go')
    expect(session.state.parts).toHaveLength(60)
  })
})

describe('what a client gives to the graph', () => {
  const Context = z.object({ tone: z.string().default('plain') })
  const graph = new StateGraph(State, Context)
    .addNode('tell', (_state, { configurable, context }) => {
      const { lamp, thread_id: thread, langgraph_auth_user_id: user } = (configurable ?? {}) as Record<string, unknown>
      return { parts: [context?.tone, lamp, thread, user].map(String) }
    })
    .addEdge(START, 'tell')
    .addEdge('tell', END)
    .compile()
  const partsFor = async (props?: RunInput['props']) => {
    const session = sessionOf(graph)
    await session.run({ messages: [], ...(props === undefined ? {} : { props }) })
    return session.state.parts
  }

  test('is its context and its configurable keys', async () => {
    expect(await partsFor({ context: { tone: 'dark' }, config: { configurable: { lamp: 'on' } } })).toEqual([
      'dark',
      'on',
      's1',
      'u1',
    ])
  })

  test('is never the thread, the checkpoint or the user', async () => {
    const ids = { thread_id: 'other', checkpoint_id: 'x', run_id: 'r' }
    const configurable = { ...ids, langgraph_auth_user_id: 'eve', __pregel_read: 1 }
    expect(await partsFor({ config: { configurable } })).toEqual(['undefined', 'undefined', 's1', 'u1'])
  })
})

test('a store in memory works, and the log says once that it does not last', async () => {
  const graph = new StateGraph(State)
    .addNode('keep', async (_state, config: LangGraphRunnableConfig) => {
      const before = await config.store?.get(['notes'], 'count')
      const count = Number(before?.value.count ?? 0) + 1
      await config.store?.put(['notes'], 'count', { count })
      return { parts: [`${count}`] }
    })
    .addEdge(START, 'keep')
    .addEdge('keep', END)
    .compile({ store: new InMemoryStore() })
  const session = sessionOf(graph)
  expect(warnings(await session.run('go'))).toEqual([expect.stringContaining('store is in memory')])
  expect(warnings(await session.run('go'))).toEqual([])
  expect(session.state.parts).toEqual(['1', '2'])
})
