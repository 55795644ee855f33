import { Annotation, END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { fold, planView, type Recorded, type RunEvent } from '@millrace/core'
import { record } from '@millrace/server/langgraph'
import { expect, test } from 'vitest'
import { type CompiledGraph, graphAgent } from '../../packages/server/src/agent/langgraph/langgraph-agent.ts'
import { cutEverywhere, sameAccount, wrongCuts } from './kit/cut.ts'
import { shelved } from './kit/shelf-saver.ts'

// A graph whose nodes record facts of every kind, cut after every single row of its log. Ids are new in each attempt, as
// those of authors are, so that nothing but the superseded facts keeps the second attempt from doubling the first.

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  /** The ids of the tasks that the nodes have added. */
  ids: Annotation<string[]>({ reducer: (ids, more) => [...ids, ...more], default: () => [] }),
})

/** A node that records these facts, and keeps the ids of the tasks that it added. */
const facts =
  (list: (id: (back: number) => string) => readonly RunEvent[]) =>
  async ({ ids }: typeof State.State, config: object) => {
    const events = list((back) => ids.at(back) ?? '')
    for (const event of events) await record(event, config)
    const added = events.flatMap((event) => (event.kind === 'tasks.changed' ? event.changes : []))
    return { ids: added.filter(({ status }) => status === 'pending').map(({ task }) => task) }
  }

const add = (title: string): RunEvent => ({
  kind: 'tasks.changed',
  changes: [{ task: crypto.randomUUID(), title, status: 'pending' }],
})
const change = (task: string, edit: object): RunEvent => ({ kind: 'tasks.changed', changes: [{ task, ...edit }] })
const data = (item: string, id: string = crypto.randomUUID(), operation: 'create' | 'update' = 'create'): RunEvent => ({
  kind: 'data',
  id,
  operation,
  itemType: 'contact',
  item,
})
const artifact = (name: string): RunEvent => ({
  kind: 'artifact',
  id: crypto.randomUUID(),
  name,
  type: 'note',
  version: 1,
  part: { text: name },
})

function signal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => {}
  const promise = new Promise<void>((resolver) => {
    resolve = resolver
  })
  return { promise, resolve }
}

const graph = new StateGraph(State)
  .addNode(
    'plan',
    facts(() => [add('one'), data('before'), add('two'), data('first', 'shared'), add('three')]),
  )
  .addNode(
    'change',
    facts((id) => [
      change(id(-1), { title: 'third', order: 0 }),
      change(id(-3), { removed: true }),
      data('second', 'shared', 'update'),
      artifact('notes'),
      add('four'),
    ]),
  )
  .addNode(
    'work',
    facts((id) => [
      { kind: 'task.started', task: id(-1) },
      data('found'),
      artifact('report'),
      { kind: 'task.finished', task: id(-1), status: 'done', result: 'fine' },
      { kind: 'task.reflected', task: id(-1), text: 'good' },
    ]),
  )
  .addNode(
    'beside',
    facts(() => [data('beside'), { kind: 'data', id: 'shared', itemType: 'contact', operation: 'delete' }]),
  )
  .addEdge(START, 'plan')
  .addEdge('plan', 'change')
  .addEdge('change', 'work')
  .addEdge('change', 'beside')
  .addEdge('work', END)
  .addEdge('beside', END)
  .compile() as unknown as CompiledGraph
const agent = graphAgent('planner', async () => ({ graph, resumable: true }))

const account = (rows: readonly Recorded[]) => {
  const { tasks, data, artifacts, reflections, summary } = fold(planView, rows)
  return {
    tasks: tasks
      .toArray()
      .map(({ title, status, order, result, reflection }) => [title, status, order, result, reflection]),
    data: data
      .toArray()
      .map(({ item, deleted }) => `${item} ${deleted ?? ''}`)
      .sort(),
    artifacts: artifacts.toArray().map(({ name, version }) => [name, version]),
    reflections: reflections.toArray().map(({ text }) => text),
    summary,
    ends: rows.flatMap(({ event }) => (event.kind === 'run.finished' ? [event.outcome] : [])),
  }
}

test.each([
  { store: 'in the log', planner: { agent, edit: undefined, watch: undefined } },
  { store: 'with the log', planner: shelved('planner', graph, 'with the log') },
  { store: 'ahead of the log', planner: shelved('planner', graph, 'ahead of the log') },
])('SPEC 4.6: with checkpoints $store, from any row of it every fact of a graph counts once', async ({ planner }) => {
  const cuts = cutEverywhere(planner.agent, [[{ say: 'plan' }]], planner.edit, planner.watch)
  expect(await wrongCuts(cuts, sameAccount(account))).toEqual({})
})

test('SPEC 4.6: what a person adds and renames before the run goes on stays', async () => {
  const mine = (kept: readonly Recorded[]): readonly RunEvent[] => {
    const known = fold(planView, kept).tasks.at(-1)?.id
    const renamed = known === undefined ? [] : [{ task: known, title: 'renamed by hand' }]
    return [{ kind: 'tasks.changed', changes: [...renamed, { task: 'mine', title: 'by hand', order: 0 }] }]
  }
  const wrong = await wrongCuts(cutEverywhere(agent, [[{ say: 'plan' }]], mine), ({ place, whole, resumed }) => {
    const { tasks } = fold(planView, resumed)
    const titles = tasks.toArray().map(({ title }) => title)
    const edit = resumed.find(({ run }) => run === '')?.event
    const renamed = edit?.kind === 'tasks.changed' && edit.changes.length > 1
    const of = renamed ? edit.changes[0]?.task : undefined
    // The later steps may rename or remove the task, as they would have done without the crash.
    const later = resumed.slice(resumed.findIndex(({ event }) => event.kind === 'superseded'))
    const again = later.some(
      ({ event }) =>
        event.kind === 'tasks.changed' &&
        event.changes.some(({ task, title, removed }) => task === of && (title !== undefined || removed)),
    )
    expect(titles, place).toContain('by hand')
    if (renamed && !again) expect(titles, place).toContain('renamed by hand')
    const own = account(whole).tasks.map(([title]) => title)
    const extra = titles.filter((title) => title !== 'by hand' && title !== 'renamed by hand')
    expect(new Set(extra).size, place).toBe(extra.length)
    expect(own, place).toEqual(expect.arrayContaining(extra))
  })
  expect(wrong).toEqual({})
})

test('SPEC 4.6: so do those inside an inner graph without checkpoints, which runs again with its node', async () => {
  // In the run that is cut, the node beside ends between two nodes of the inner graph, and has a checkpoint there.
  const sawed = signal()
  const stacked = signal()
  const inner = new StateGraph(State)
    .addNode('saw', async (state, config) => {
      await facts(() => [data('sawed')])(state, config)
      sawed.resolve()
      return {}
    })
    .addNode('plane', async (state, config) => {
      await stacked.promise
      return facts(() => [data('planed')])(state, config)
    })
    .addEdge(START, 'saw')
    .addEdge('saw', 'plane')
    .addEdge('plane', END)
    .compile({ checkpointer: false })
  const unsaved = new StateGraph(State)
    .addNode('work', inner)
    .addNode('beside', async (state, config) => {
      await sawed.promise
      // `saw` ends, and its end is in the log, before this node does.
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
      await facts(() => [data('stacked')])(state, config)
      setImmediate(() => setImmediate(() => stacked.resolve()))
      return {}
    })
    .addEdge(START, 'work')
    .addEdge(START, 'beside')
    .addEdge('work', END)
    .addEdge('beside', END)
    .compile() as unknown as CompiledGraph
  const shop = graphAgent('shop', async () => ({ graph: unsaved, resumable: true }))
  const cuts = cutEverywhere(shop, [[{ say: 'build' }]])
  expect(await wrongCuts(cuts, sameAccount(account))).toEqual({})
})
