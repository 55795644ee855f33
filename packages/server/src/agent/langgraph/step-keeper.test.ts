import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import type { Recorded, RunEvent } from '@millrace/core'
import { expect, test } from 'vitest'
import { runContext } from '../../../../../test/kit/run-context.ts'
import { type CompiledGraph, graphAgent } from './langgraph-agent.ts'

// A resumable graph must not run ahead of the log: what it did there would be done again after a crash.

const State = Annotation.Root({ parts: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }) })

/** Runs the graph; `order` has the nodes whose code ran, and each time that the log had all events so far. */
async function runInOrder(build: (ran: (name: string) => { parts: string[] }) => unknown) {
  const order: string[] = []
  const graph = build((name) => {
    order.push(name)
    return { parts: [name] }
  })
  const taken: RunEvent[] = []
  const context = runContext({
    newId: () => crypto.randomUUID(),
    recorded: async () => {
      const last = taken.at(-1)
      order.push(`log has ${last?.kind === 'node.started' ? last.node : last?.kind}`)
    },
  })
  const agent = graphAgent('g', async () => ({ graph: graph as CompiledGraph, resumable: true }))
  for await (const event of agent.run({ messages: [] }, context)) taken.push(event)
  return { order, taken }
}

test('SPEC 4.6: the code of a node runs after the log has its start, also inside another node', async () => {
  const { order, taken } = await runInOrder((ran) => {
    const inner = new StateGraph(State)
      .addNode('deep', () => ran('deep'))
      .addNode('deeper', () => ran('deeper'))
      .addEdge(START, 'deep')
      .addEdge('deep', 'deeper')
      .addEdge('deeper', END)
      .compile()
    return new StateGraph(State)
      .addNode('one', () => ran('one'))
      .addNode('sub', inner)
      .addNode('two', () => ran('two'))
      .addEdge(START, 'one')
      .addEdge('one', 'sub')
      .addEdge('sub', 'two')
      .addEdge('two', END)
      .compile()
  })
  const nodes = order.filter((each, i) => each !== order[i - 1] && (!each.startsWith('log has ') || each.includes('@')))
  expect(nodes).toEqual([
    'log has one@1',
    'one',
    'log has sub@1',
    'log has sub/deep@1',
    'deep',
    'log has sub/deeper@1',
    'deeper',
    'log has two@1',
    'two',
  ])
  // Between the end of a step and the start of the next one there is a checkpoint.
  const kinds = taken.map((event) =>
    event.kind === 'log' ? event.message : 'node' in event ? `${event.kind} ${event.node}` : event.kind,
  )
  const between = kinds.slice(kinds.indexOf('node.finished one@1'), kinds.indexOf('node.started sub@1'))
  expect(between).toContain('langgraph.checkpoint')
})

test('nodes that run at the same time all start', async () => {
  const { order } = await runInOrder((ran) =>
    new StateGraph(State)
      .addNode('left', () => ran('left'))
      .addNode('right', () => ran('right'))
      .addNode('join', () => ran('join'))
      .addEdge(START, 'left')
      .addEdge(START, 'right')
      .addEdge(['left', 'right'], 'join')
      .addEdge('join', END)
      .compile(),
  )
  for (const name of ['left', 'right', 'join']) {
    expect(order.indexOf(`log has ${name}@1`)).toBeGreaterThanOrEqual(0)
    expect(order.indexOf(name)).toBeGreaterThan(order.indexOf(`log has ${name}@1`))
  }
})

test('SPEC 4.6: when the run is aborted before the log has the start of a node, its code never runs', async () => {
  const order: string[] = []
  const ran = (name: string) => () => {
    order.push(name)
    return { parts: [name] }
  }
  const graph = new StateGraph(State)
    .addNode('one', ran('one'))
    .addNode('two', ran('two'))
    .addEdge(START, 'one')
    .addEdge('one', 'two')
    .addEdge('two', END)
    .compile()
  const abort = new AbortController()
  let node = ''
  const context = runContext({
    signal: abort.signal,
    newId: () => crypto.randomUUID(),
    // As it is when the server dies, or when a person cancels: the wait ends, but the log has no such row.
    recorded: async () => {
      if (node === 'two@1') abort.abort(new Error('the server stopped'))
    },
  })
  const agent = graphAgent('g', async () => ({ graph: graph as unknown as CompiledGraph, resumable: true }))
  const run = async (): Promise<void> => {
    for await (const event of agent.run({ messages: [] }, context)) if (event.kind === 'node.started') node = event.node
  }
  await expect(run()).rejects.toThrow()
  // What LangGraph still has to do, it does in these turns.
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  expect(order).toEqual(['one'])
})

test('SPEC 4.6: a step that ended beside one that was cut does not run again: its writes are in the log at once', async () => {
  const ran: string[] = []
  let hold = true
  const graph = new StateGraph(State)
    .addNode('quick', () => {
      ran.push('quick')
      return { parts: ['quick'] }
    })
    .addNode('held', async (_, { signal }) => {
      ran.push('held')
      if (hold) await new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
      return { parts: ['held'] }
    })
    .addEdge(START, 'quick')
    .addEdge(START, 'held')
    .addEdge('quick', END)
    .addEdge('held', END)
    .compile()
  const agent = graphAgent('g', async () => ({ graph: graph as unknown as CompiledGraph, resumable: true }))
  const crash = new AbortController()
  const newId = () => crypto.randomUUID()
  const rows: Recorded[] = []
  const add = (event: RunEvent): void => void rows.push({ seq: rows.length + 1, at: 1, run: 'r', event })
  add({ kind: 'run.started', agent: 'g', input: { messages: [] } })
  let ended = false
  for await (const event of agent.run({ messages: [] }, runContext({ newId, signal: crash.signal }))) {
    add(event)
    ended ||= event.kind === 'node.finished' && event.node === 'quick@1'
    // The log ends with the row after the end of the step.
    if (ended && event.kind === 'log' && event.message === 'langgraph.checkpoint') break
  }
  crash.abort()
  expect(ran.toSorted()).toEqual(['held', 'quick'])

  hold = false
  const sealed = rows.at(-1)?.seq ?? 0
  const again: RunEvent[] = []
  const context = runContext({ newId, history: rows, resumed: true, sealed })
  for await (const event of agent.run({ messages: [] }, context)) again.push(event)
  expect(ran.filter((name) => name === 'quick')).toEqual(['quick'])
  expect(ran.filter((name) => name === 'held')).toHaveLength(2)
  const patches = again.flatMap((event) => (event.kind === 'state' ? event.patch : []))
  expect(JSON.stringify(patches)).toContain('held')
})
