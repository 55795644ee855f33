import { AIMessage, type BaseMessage, HumanMessage, RemoveMessage } from '@langchain/core/messages'
import { Annotation, Command, END, interrupt, MessagesAnnotation, Send, START, StateGraph } from '@langchain/langgraph'
import { applyState, isObject, type Json, type JsonObject, type RunEvent } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { testSession } from '../../../../../test/kit/run-agent.ts'
import { GraphState } from './graph-state.ts'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'

// The state in the log equals the graph's own: its channel values after each step, as its reducers make them.

const list = () => Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] })
const State = Annotation.Root({ ...MessagesAnnotation.spec, parts: list(), x: Annotation<unknown>() })
type Bare = { compile(): { invoke(input: unknown): Promise<unknown> } }

const sessionOf = (graph: unknown) => testSession(graphAgent('g', async () => ({ graph: graph as CompiledGraph })))

/** Messages by what a reader needs: the ids of those without one are random. */
function brief(state: unknown): unknown {
  if (!isObject(state)) return state
  return Object.fromEntries(
    Object.entries(state).map(([key, value]) => [
      key,
      key === 'messages' && Array.isArray(value)
        ? value.map((each: BaseMessage | { type: string; content: unknown }) => [each.type, each.content])
        : value,
    ]),
  )
}

async function bare(graph: Bare): Promise<unknown> {
  return brief(await graph.compile().invoke({ messages: [new HumanMessage({ id: 'm', content: 'go' })] }))
}

const fanOut = () =>
  new StateGraph(State)
    .addNode('fan', () => ({ x: 'fanned' }))
    .addNode('work', ({ v }: { v: string }) => ({ parts: [v] }))
    .addNode('join', ({ parts }) => ({ x: parts.length }))
    .addEdge(START, 'fan')
    .addConditionalEdges('fan', () => ['a', 'b', 'c'].map((v) => new Send('work', { v })), ['work'])
    .addEdge('work', 'join')
    .addEdge('join', END)

const commanded = () =>
  new StateGraph(State)
    .addNode(
      'choose',
      () => new Command({ goto: 'end', update: { x: 1, parts: ['c'], messages: [new AIMessage('chosen')] } }),
      { ends: ['end'] },
    )
    .addNode('end', () => ({ parts: ['e'] }))
    .addEdge(START, 'choose')
    .addEdge('end', END)

const trimming = () =>
  new StateGraph(State)
    .addNode('say', () => ({ messages: [1, 2, 3].map((n) => new AIMessage({ id: `a${n}`, content: `${n}` })) }))
    .addNode('trim', () => ({ messages: [new RemoveMessage({ id: 'm' }), new RemoveMessage({ id: 'a2' })] }))
    .addNode('mend', () => ({ messages: [new AIMessage({ id: 'a3', content: 'three' })] }))
    .addEdge(START, 'say')
    .addEdge('say', 'trim')
    .addEdge('trim', 'mend')
    .addEdge('mend', END)

const inside = () => {
  const Inner = Annotation.Root({ ...MessagesAnnotation.spec, x: Annotation<unknown>(), secret: Annotation<string>() })
  const inner = new StateGraph(Inner)
    .addNode('one', () => ({ secret: 's', x: 'inner' }))
    .addNode('two', ({ secret }) => ({ x: `inner ${secret}`, messages: [new AIMessage({ id: 'i', content: 'in' })] }))
    .addEdge(START, 'one')
    .addEdge('one', 'two')
    .addEdge('two', END)
    .compile()
  return new StateGraph(State)
    .addNode('sub', inner)
    .addNode('after', ({ x }) => ({ parts: [String(x)] }))
    .addEdge(START, 'sub')
    .addEdge('sub', 'after')
    .addEdge('after', END)
}

const called = () => {
  const Own = Annotation.Root({ question: Annotation<string>(), answer: Annotation<string>() })
  const inner = new StateGraph(Own)
    .addNode('think', ({ question }) => ({ answer: `${question}!` }))
    .addEdge(START, 'think')
    .addEdge('think', END)
    .compile()
  return new StateGraph(State)
    .addNode('ask', async () => ({ x: (await inner.invoke({ question: 'why' })).answer }))
    .addEdge(START, 'ask')
    .addEdge('ask', END)
}

const joined = () =>
  new StateGraph(Annotation.Root({ ...State.spec, left: Annotation<number>(), right: Annotation<number>() }))
    .addNode('split', () => ({ x: 0 }))
    .addNode('l', () => ({ left: 1, parts: ['l'] }))
    .addNode('r', () => ({ right: 2, parts: ['r'] }))
    .addNode('sum', ({ left, right }) => ({ x: left + right }))
    .addEdge(START, 'split')
    .addEdge('split', 'l')
    .addEdge('split', 'r')
    .addEdge(['l', 'r'], 'sum')
    .addEdge('sum', END)

const changes = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.kind === 'state' ? [{ node: event.node, patch: event.patch }] : []))
const keysOf = (patch: readonly { path: string }[]) => [...new Set(patch.map(({ path }) => path.split('/')[1]))]

describe('the state in the log is what the graph gives back', () => {
  test.each<[string, () => unknown]>([
    ['three workers that append to one list', fanOut],
    ['a Command that goes on and writes', commanded],
    ['messages that are removed and replaced', trimming],
    ['a graph inside, with keys of its own', inside],
    ['a graph that a node calls', called],
    ['two branches that join', joined],
  ])('%s', async (_, build) => {
    const session = sessionOf((build() as Bare).compile())
    await session.run('go')
    expect(brief(session.state)).toEqual(await bare(build() as Bare))
  })

  test('again in a second run, and nothing is written that did not change', async () => {
    const graph = fanOut().compile()
    const session = sessionOf(graph)
    await session.run('go')
    const second = await session.run({ messages: [{ id: 'm2', role: 'user', content: { parts: [{ text: 'on' }] } }] })
    expect(brief(session.state)).toEqual({
      messages: [
        ['human', 'go'],
        ['human', 'on'],
      ],
      parts: ['a', 'b', 'c', 'a', 'b', 'c'],
      x: 6,
    })
    expect(changes(second).flatMap(({ patch }) => patch.map(({ op, path }) => `${op} ${path}`))).toEqual([
      'add /messages/1',
      'replace /x',
      'add /parts/3',
      'add /parts/4',
      'add /parts/5',
      'replace /x',
    ])
  })

  test('state that a client sends back unchanged is not added once more', async () => {
    const session = sessionOf(fanOut().compile())
    await session.run('go')
    await session.run({ state: session.state })
    expect(session.state.parts).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
    await session.run({ state: { ...session.state, parts: ['z'] } })
    expect(session.state.parts).toEqual([...'abcabc', 'z', ...'abc'])
  })

  test('channels outside of the output schema are in it, as in the graph’s own state', async () => {
    const Input = Annotation.Root({ ...MessagesAnnotation.spec })
    const Output = Annotation.Root({ x: Annotation<unknown>() })
    const build = () =>
      new StateGraph({ input: Input, output: Output, stateSchema: State })
        .addNode('a', () => ({ parts: ['hidden'] }))
        .addNode('b', ({ parts }) => ({ x: parts.join() }))
        .addEdge(START, 'a')
        .addEdge('a', 'b')
        .addEdge('b', END)
    const session = sessionOf(build().compile())
    await session.run('go')
    expect(await bare(build())).toEqual({ x: 'hidden' })
    expect(brief(session.state)).toEqual({ messages: [['human', 'go']], parts: ['hidden'], x: 'hidden' })
  })

  test('at an interrupt, and after its answer', async () => {
    const graph = new StateGraph(State)
      .addNode('first', () => ({ parts: ['1'] }))
      .addNode('ask', () => ({ parts: [String(interrupt('sure?'))] }))
      .addNode('beside', () => ({ x: 'done' }))
      .addEdge(START, 'first')
      .addEdge('first', 'ask')
      .addEdge('first', 'beside')
      .addEdge('ask', END)
      .compile()
    const session = sessionOf(graph)
    const events = await session.run('go')
    expect(session.state.parts).toEqual(['1'])
    const asked = events.find((event) => event.kind === 'interrupt')
    await session.run({
      resume: [{ interrupt: asked?.kind === 'interrupt' ? asked.id : '', status: 'resolved', payload: 'yes' }],
    })
    expect(brief(session.state)).toEqual({ messages: [['human', 'go']], parts: ['1', 'yes'], x: 'done' })
  })

  test('a step that fails leaves it as it was', async () => {
    const graph = new StateGraph(State)
      .addNode('good', () => ({ parts: ['good'] }))
      .addNode('bad', async () => {
        throw new Error('no')
      })
      .addEdge(START, 'good')
      .addEdge(START, 'bad')
      .compile()
    const session = sessionOf(graph)
    await expect(session.run('go')).rejects.toThrow('no')
    expect(brief(session.state)).toEqual({ messages: [['human', 'go']], parts: [] })
  })

  test('keys of others stay', async () => {
    const session = sessionOf(fanOut().compile())
    await session.run({ state: { theirs: { a: 1 } } })
    expect(session.state.theirs).toEqual({ a: 1 })
  })
})

describe('each change', () => {
  test('is there before its node is finished, and the next node finds it', async () => {
    const events = await sessionOf(commanded().compile()).run('go')
    const order = events.flatMap((event) => {
      if (event.kind === 'state') return `${event.node ?? 'input'} wrote ${keysOf(event.patch)}`
      if (event.kind === 'agent') return `said ${event.event.content?.parts?.[0]?.text}`
      return event.kind === 'node.started' || event.kind === 'node.finished' ? `${event.kind} ${event.node}` : []
    })
    expect(order).toEqual([
      'input wrote messages,parts',
      'node.started choose@1',
      'said chosen',
      'choose@1 wrote messages,parts,x',
      'node.finished choose@1',
      'node.started end@1',
      'end@1 wrote parts',
      'node.finished end@1',
    ])
  })

  test('says which of the nodes of a step wrote it', async () => {
    const events = await sessionOf(joined().compile()).run('go')
    const wrote = changes(events).map(({ node, patch }) => [node, keysOf(patch)])
    expect(wrote).toContainEqual(['l@1', ['left']])
    expect(wrote).toContainEqual(['r@1', ['parts', 'right']])
  })

  test('is small in a long conversation: a removed message is one operation', async () => {
    const many = Array.from({ length: 200 }, (_, i) => new AIMessage({ id: `a${i}`, content: `${i}` }))
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('many', () => ({ messages: many }))
      .addNode('trim', () => ({
        messages: [new RemoveMessage({ id: 'a3' }), new AIMessage({ id: 'n', content: 'n' })],
      }))
      .addEdge(START, 'many')
      .addEdge('many', 'trim')
      .addEdge('trim', END)
      .compile()
    const session = sessionOf(graph)
    const last = changes(await session.run('go')).at(-1)
    expect(last?.patch.map(({ op, path }) => `${op} ${path}`)).toEqual(['remove /messages/4', 'add /messages/200'])
    expect((session.state.messages as readonly Json[]).length).toBe(201)
  })

  test('of a message keeps what belongs to it, and none of LangChain’s wrapping', async () => {
    const message = new AIMessage({
      id: 'a',
      content: 'hi',
      tool_calls: [{ id: 'c', name: 'weather', args: { city: 'Oslo' } }],
      additional_kwargs: { k: 1 },
    })
    const graph = new StateGraph(State)
      .addNode('say', () => ({ messages: [message], x: new Set([1]) }))
      .addEdge(START, 'say')
      .compile()
    const session = sessionOf(graph)
    await session.run('go')
    expect(session.state).toEqual({
      messages: [
        { type: 'human', id: 'm', content: 'go' },
        {
          type: 'ai',
          id: 'a',
          content: 'hi',
          tool_calls: [{ id: 'c', name: 'weather', args: { city: 'Oslo' } }],
          additional_kwargs: { k: 1 },
        },
      ],
      parts: [],
      x: [1],
    })
  })

  test('removes what the graph no longer has, and leaves what it never had', () => {
    const state = new GraphState({ a: 1, b: 2, theirs: 3 }, { a: 1, b: 2 })
    expect([...state.step({ a: 1 })]).toEqual([{ kind: 'state', patch: [{ op: 'remove', path: '/b' }] }])
  })

  test('never names __proto__: no patch may', () => {
    const values = JSON.parse('{"__proto__":{"a":1},"x":{"__proto__":{"a":2}}}')
    const before = JSON.parse('{"x":{"__proto__":{"a":1}}}')
    const [change, ...rest] = [...new GraphState(before, {}).step(values)]
    expect(rest).toEqual([])
    expect(JSON.stringify(change?.kind === 'state' && applyState(before, change))).toBe('{"x":{"__proto__":{"a":2}}}')
  })

  test('applies to the state before it, whatever the run brings', async () => {
    const session = sessionOf(joined().compile())
    let state: JsonObject = {}
    const problems: unknown[] = []
    await session.run({ state: { parts: ['mine'], messages: 'not a list', x: { y: [1] } } })
    for (const { event } of session.rows) state = applyState(state, event, (problem) => problems.push(problem))
    expect(problems).toEqual([])
    expect(state.parts).toEqual(['mine', 'l', 'r'])
  })
})

test('a run that the limit of steps ends has the state of its last step', async () => {
  const graph = new StateGraph(State)
    .addNode('a', () => ({ parts: ['a'] }))
    .addNode('b', () => ({}))
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', 'a')
    .compile()
    .withConfig({ recursionLimit: 3 })
  const session = sessionOf(graph)
  await expect(session.run('go')).rejects.toThrow('Recursion limit of 3 reached')
  expect(session.state.parts).toEqual(['a', 'a'])
})
