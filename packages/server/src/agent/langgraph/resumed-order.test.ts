import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { flowView, fold, problemsView, type Recorded, type RunEvent } from '@millrace/core'
import { describe, expect, test } from 'vitest'
import { testSession } from '../../../../../test/kit/run-agent.ts'
import { EarlierNodes } from './earlier-nodes.ts'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'
import { runChain } from './run-chain.ts'

// A graph that goes on after an answer: its nodes come after those that really led to them, in the runs before.

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  parts: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})
const step = (name: string) => () => ({ parts: [name] })
const asks = (name: string) => () => ({ parts: [`${name} ${interrupt(`${name}?`)}`] })

/** Every run loads the graph anew, as after a restart of the server. */
const sessionOf = (build: () => unknown) =>
  testSession(graphAgent('g', async () => ({ graph: build() as CompiledGraph })))
type Session = ReturnType<typeof sessionOf>

async function answer(session: Session, first: readonly RunEvent[]): Promise<readonly RunEvent[]> {
  const resume = first.flatMap((event) =>
    event.kind === 'interrupt' ? [{ interrupt: event.id, status: 'resolved' as const, payload: 'yes' }] : [],
  )
  return session.run({ resume })
}
const startsIn = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.kind === 'node.started' ? [[event.node, event.after]] : []))
const edgesOf = ({ rows }: Session) => {
  expect(fold(problemsView, rows).problems.toArray()).toEqual([])
  return fold(flowView, rows)
    .edges.toArray()
    .map(({ id, count }) => `${id} ${count}`)
}

describe('after an answer', () => {
  test('the node that asked comes after what it came after before', async () => {
    const session = sessionOf(() =>
      new StateGraph(State)
        .addNode('open', step('open'))
        .addNode('ask', asks('ask'))
        .addNode('send', step('send'))
        .addEdge(START, 'open')
        .addEdge('open', 'ask')
        .addEdge('ask', 'send')
        .addEdge('send', END)
        .compile(),
    )
    const second = await answer(session, await session.run('hi'))
    expect(startsIn(second)).toEqual([
      ['ask@2', ['open@1']],
      ['send@1', ['ask@2']],
    ])
    expect(edgesOf(session)).toEqual(['START->open 1', 'open->ask 2', 'ask->send 1'])
    expect(session.state.parts).toEqual(['open', 'ask yes', 'send'])
  })

  test('so do the nodes of an inner graph, question after question', async () => {
    const inner = new StateGraph(State)
      .addNode('first', step('first'))
      .addNode('ask', asks('ask'))
      .addNode('more', asks('more'))
      .addEdge(START, 'first')
      .addEdge('first', 'ask')
      .addEdge('ask', 'more')
      .addEdge('more', END)
      .compile()
    const session = sessionOf(() =>
      new StateGraph(State)
        .addNode('open', step('open'))
        .addNode('sub', inner)
        .addEdge(START, 'open')
        .addEdge('open', 'sub')
        .addEdge('sub', END)
        .compile(),
    )
    const second = await answer(session, await session.run('hi'))
    expect(startsIn(second)).toEqual([
      ['sub@2', ['open@1']],
      ['sub/ask@2', ['sub/first@1']],
      ['sub/more@1', ['sub/ask@2']],
    ])
    expect(startsIn(await answer(session, second))).toEqual([
      ['sub@3', ['open@1']],
      ['sub/more@2', ['sub/ask@2']],
    ])
    expect(edgesOf(session)).toEqual([
      'START->open 1',
      'open->sub 3',
      'sub->sub/first 1',
      'sub/first->sub/ask 2',
      'sub/ask->sub/more 2',
      'sub/more->sub 1',
    ])
  })

  test('a branch that asked comes from START again, and a join comes after all its branches', async () => {
    const session = sessionOf(() =>
      new StateGraph(State)
        .addNode('quick', step('quick'))
        .addNode('ask', asks('ask'))
        .addNode('join', step('join'))
        .addEdge(START, 'quick')
        .addEdge(START, 'ask')
        .addEdge(['quick', 'ask'], 'join')
        .addEdge('join', END)
        .compile(),
    )
    const second = await answer(session, await session.run('hi'))
    expect(startsIn(second)).toEqual([
      ['ask@2', []],
      ['join@1', ['quick@1', 'ask@2']],
    ])
    expect([...edgesOf(session)].sort()).toEqual(['START->ask 2', 'START->quick 1', 'ask->join 1', 'quick->join 1'])
  })

  test('a node behind a stop comes after the node before the stop', async () => {
    const session = sessionOf(() =>
      new StateGraph(State)
        .addNode('open', step('open'))
        .addNode('send', step('send'))
        .addEdge(START, 'open')
        .addEdge('open', 'send')
        .addEdge('send', END)
        .compile({ interruptBefore: ['send'] }),
    )
    const second = await answer(session, await session.run('hi'))
    expect(startsIn(second)).toEqual([['send@1', ['open@1']]])
    expect(edgesOf(session)).toEqual(['START->open 1', 'open->send 1'])
  })

  test('a new conversation in place of an answer begins at START', async () => {
    const session = sessionOf(() =>
      new StateGraph(State)
        .addNode('open', step('open'))
        .addNode('ask', asks('ask'))
        .addEdge(START, 'open')
        .addEdge('open', 'ask')
        .addEdge('ask', END)
        .compile(),
    )
    await session.run('hi')
    const again = await session.run('hello')
    expect(startsIn(again)).toEqual([
      ['open@2', undefined],
      ['ask@2', ['open@2']],
    ])
    await answer(session, again)
    expect(edgesOf(session)).toEqual(['START->open 2', 'open->ask 3'])
  })
})

describe('after a crash', () => {
  const started = (node: string, after?: readonly string[]): RunEvent => ({
    kind: 'node.started',
    node,
    agent: node,
    ...(after === undefined ? {} : { after }),
  })
  const finished = (node: string): RunEvent => ({ kind: 'node.finished', node, status: 'ok' })
  const rows = (events: readonly RunEvent[]): readonly Recorded[] =>
    events.map((event, i) => ({ seq: i + 1, at: i, run: 'r', event }))

  test('the branch that was cut is the same step as the branch that was done', () => {
    const nodes = new EarlierNodes(
      rows([
        { kind: 'run.started', agent: 'g', input: { messages: [] } },
        started('a@1'),
        finished('a@1'),
        started('b@1', ['a@1']),
        started('c@1', ['a@1']),
        finished('b@1'),
        { kind: 'superseded', messages: [], nodes: ['c@1'], facts: true },
      ]),
    )
    expect(nodes.again('c@2', undefined)).toMatchObject({ node: 'c@1', after: ['a@1'], phase: 1 })
    expect(nodes.again('b@2', undefined)).toBeUndefined()
    expect(nodes.inside(undefined).map(({ node, phase }) => [node, phase])).toEqual([
      ['a@1', 0],
      ['b@1', 1],
    ])
  })
})

test('a run that goes on in the middle of a task knows the task, unless the node that started it runs again', () => {
  const row = (event: RunEvent, seq: number): Recorded => ({ seq, at: seq, run: 'r', event })
  const taskOf = (...events: RunEvent[]) => {
    const begun: RunEvent = { kind: 'run.started', agent: 'g', input: { messages: [] } }
    return runChain({ history: [begun, ...events].map(row), run: 'r' }, true).task
  }
  const started: RunEvent = { kind: 'task.started', task: 'a', node: 'select@1' }
  const finished: RunEvent = { kind: 'task.finished', task: 'a', status: 'done', result: '', node: 'reflect@1' }
  const again = (node: string): RunEvent => ({ kind: 'superseded', messages: [], nodes: [node], facts: true })
  expect(taskOf(started, again('work@1'))).toBe('a')
  expect(taskOf(started, finished)).toBe(undefined)
  expect(taskOf(started, finished, again('reflect@1'))).toBe('a')
  expect(taskOf(started, again('select@1'))).toBe(undefined)
})
