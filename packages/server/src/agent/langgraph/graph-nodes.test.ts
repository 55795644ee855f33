import { AIMessage } from '@langchain/core/messages'
import { Annotation, Command, END, MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, test, vi } from 'vitest'
import { outline, testSession } from '../../../../../test/kit/run-agent.ts'
import { durationsOf, sideBySide } from '../../../../../test/kit/side-by-side.ts'
import { isCheckpoint } from './checkpoint.ts'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'

// What authors of graphs return from their nodes, and what a run shows of it.

const State = Annotation.Root({ ...MessagesAnnotation.spec, extra: Annotation<unknown>() })
type Returned = typeof State.Update
const sessionOf = (graph: unknown) => testSession(graphAgent('g', async () => ({ graph: graph as CompiledGraph })))
const only = (node: (state: typeof State.State) => Returned, options: object = {}) =>
  new StateGraph(State).addNode('node', node, options).addEdge(START, 'node').addEdge('node', END).compile()

describe('a node that', () => {
  test.each<[string, unknown]>([
    ['a message', [new AIMessage('hi')]],
    ['a message in plain words', [{ role: 'assistant', content: 'hi' }]],
    ['a message in LangGraph’s words', [{ role: 'ai', content: 'hi' }]],
    ['the short form', [['ai', 'hi']]],
    ['one message without a list', new AIMessage('hi')],
  ])('returns %s has said it', async (_, messages) => {
    const events = await sessionOf(only(() => ({ messages }) as Returned)).run('go')
    expect(outline(events)).toEqual(['state', '> node@1', 'node “hi”', 'state', '< node@1'])
  })

  test.each([
    ['messages', () => new AIMessage('new')],
    ['plain ones', () => ({ role: 'ai', content: 'new' })],
  ])('is a graph itself says its %s once, and nothing of earlier runs again', async (_, message) => {
    const inner = only(() => ({ messages: [message()] }) as Returned)
    const outer = new StateGraph(State).addNode('outer', inner).addEdge(START, 'outer').addEdge('outer', END).compile()
    const session = sessionOf(outer)
    const once = ['> outer@1', '> outer/node@1', 'node “new”', '< outer/node@1', 'state', '< outer@1']
    expect(outline(await session.run('go'))).toEqual(['state', ...once])
    // The same message of the user once more: the state has it.
    expect(outline(await session.run('go'))).toEqual(once)
  })

  test('leaves by Command.PARENT has ended, and so has the node around it', async () => {
    const inner = new StateGraph(State)
      .addNode('in', () => new Command({ graph: Command.PARENT, goto: 'last', update: { extra: 'sent' } }))
      .addEdge(START, 'in')
      .compile()
    const outer = new StateGraph(State)
      .addNode('outer', inner, { ends: ['last'] })
      .addNode('last', ({ extra }) => ({ extra: `${extra} on` }))
      .addEdge(START, 'outer')
      .compile()
    const session = sessionOf(outer)
    const events = outline(await session.run('go')).filter((line) => line !== 'state')
    expect(events).toEqual(['> outer@1', '> outer/in@1', '< outer/in@1', '< outer@1', '> last@1', '< last@1'])
    expect(session.state.extra).toBe('sent on')
  })

  test('leaves by Command.PARENT has said what its command says, before the next node and under no other author', async () => {
    const message = new AIMessage('over to you')
    const leave = () => new Command({ graph: Command.PARENT, goto: 'last', update: { messages: [message] } })
    const leaver = new StateGraph(State).addNode('in', leave).addEdge(START, 'in').compile()
    // The graph after it returns all messages, so also that one.
    const writer = only(() => ({ messages: [new AIMessage('done')] }))
    const team = new StateGraph(State)
      .addNode('first', leaver, { ends: ['last'] })
      .addNode('last', writer)
      .addEdge(START, 'first')
      .compile()
    const outer = new StateGraph(State).addNode('team', team).addEdge(START, 'team').addEdge('team', END).compile()
    const said = ['first “over to you”', '< first/in@1', '< first@1', '> last@1', '> last/node@1', 'node “done”']
    expect(outline(await sessionOf(team).run('go')).filter((line) => line !== 'state')).toEqual([
      '> first@1',
      '> first/in@1',
      ...said,
      '< last/node@1',
      '< last@1',
    ])
    // The same one graph deeper.
    const deeper = (line: string): string => line.replace(/(?<=^[<>] )/, 'team/')
    expect(outline(await sessionOf(outer).run('go')).filter((line) => line !== 'state')).toEqual([
      '> team@1',
      ...['> first@1', '> first/in@1', ...said, '< last/node@1', '< last@1'].map(deeper),
      '< team@1',
    ])
  })

  test('leaves by Command.PARENT for the end of that graph has ended with it', async () => {
    const message = new AIMessage('that is all')
    const leave = () => new Command({ graph: Command.PARENT, goto: END, update: { messages: [message] } })
    const leaver = new StateGraph(State).addNode('in', leave).addEdge(START, 'in').compile()
    const outer = new StateGraph(State)
      .addNode('outer', leaver, { ends: [END] })
      .addEdge(START, 'outer')
      .compile()
    expect(outline(await sessionOf(outer).run('go')).filter((line) => line !== 'state')).toEqual([
      '> outer@1',
      '> outer/in@1',
      'outer “that is all”',
      '< outer/in@1',
      '< outer@1',
    ])
  })

  test('returns all messages, old and new, records only the new one', async () => {
    const session = sessionOf(
      only(({ messages }) => ({ messages: [...messages, new AIMessage(`${messages.length}`)] })),
    )
    await session.run('go')
    expect(outline(await session.run('go'))).toEqual(['> node@1', 'node “2”', 'state', '< node@1'])
  })

  test('is retried has two executions, of which the first failed', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    let tries = 0
    const retryPolicy = { maxAttempts: 2, initialInterval: 1, jitter: false, logWarning: false }
    const flaky = only(
      () => {
        tries += 1
        if (tries === 1) throw new Error('once')
        return { extra: 1 }
      },
      { retryPolicy },
    )
    expect(outline(await sessionOf(flaky).run('go'))).toEqual([
      'state',
      '> node@1',
      '< node@1 error',
      '> node@2',
      'state',
      '< node@2',
    ])
    log.mockRestore()
  })

  test('throws a value that is not an Error fails with a message', async () => {
    const thrower = only(() => {
      throw { code: 5, message: 'quota exceeded' }
    })
    const session = sessionOf(thrower)
    await expect(session.run('go')).rejects.toThrow('quota exceeded')
    expect(session.rows.findLast(({ event }) => !isCheckpoint(event))?.event).toMatchObject({
      kind: 'node.finished',
      error: { message: 'quota exceeded' },
    })
  })

  test('returns a value that is not JSON continues, and the log names what is left out', async () => {
    const cyclic: Record<string, unknown> = {}
    cyclic.self = cyclic
    const events = await sessionOf(only(() => ({ extra: cyclic }))).run('go')
    expect(events).toContainEqual({
      kind: 'log',
      level: 'warn',
      message: "'node' returned a value that is not JSON in extra: it stays in the graph and is left out of the log",
      node: 'node@1',
    })
  })

  test('keeps more than the log accepts fails with the size and what to do', async () => {
    const long = 'x'.repeat(2_000_000)
    const session = sessionOf(only(() => ({ messages: [new AIMessage(long)] })))
    await session.run('go')
    await expect(session.run('go')).rejects.toThrow(
      /^the graph's state is 5\.\d MB as a checkpoint; the limit is 4\.0 MB\. Keep less in it/,
    )
  })
})

test('a step that ended before its run failed stays in the state, as with a checkpointer of LangGraph', async () => {
  const graphOf = (checkpointer?: MemorySaver) => {
    let isSick = true
    return new StateGraph(State)
      .addNode('first', ({ messages }) => ({ extra: `seen ${messages.length}`, messages: [new AIMessage('first')] }))
      .addNode('second', ({ messages }) => {
        if (isSick) {
          isSick = false
          throw new Error('no network')
        }
        return { messages: [new AIMessage(`second after ${messages.length}`)] }
      })
      .addEdge(START, 'first')
      .addEdge('first', 'second')
      .addEdge('second', END)
      .compile(checkpointer === undefined ? {} : { checkpointer })
  }
  const bare = graphOf(new MemorySaver())
  const config = { configurable: { thread_id: 't' } }
  await expect(bare.invoke({ messages: ['go'] }, config)).rejects.toThrow('no network')
  const own = await bare.invoke({ messages: ['again'] }, config)

  const session = sessionOf(graphOf())
  await expect(session.run('go')).rejects.toThrow('no network')
  await session.run({ messages: [{ id: 'm2', role: 'user', content: { parts: [{ text: 'again' }] } }] })
  const texts = (session.state.messages as { content: string }[]).map(({ content }) => content)
  expect(texts).toEqual(own.messages.map(({ content }) => content))
  expect(session.state.extra).toBe(own.extra)
})

test('nodes that run side by side have durations of their own, also where their rows are written together', async () => {
  const work = sideBySide()
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('quick', async () => ({ messages: [new AIMessage(await work.quick())] }))
    .addNode('slow', async () => ({ messages: [new AIMessage(await work.slow())] }))
    .addEdge(START, 'quick')
    .addEdge(START, 'slow')
    .compile()
  const session = sessionOf(graph)
  await session.run('go', work)
  expect(durationsOf(session.rows)).toEqual({ quick: 100, slow: 650 })
})
