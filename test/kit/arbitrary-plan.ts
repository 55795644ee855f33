import fc from 'fast-check'
import type { Recorded, RunEvent, TaskStatus } from '../../packages/core/src/event/run-event.ts'

const node = fc.constantFrom('work@1', 'work@2', 'beside@1')
const id = fc.constantFrom('a', 'b', 'c', 'd')
const word = fc.constantFrom('one', 'two', 'three')
const status = fc.constantFrom<TaskStatus>('pending', 'in_progress', 'done', 'failed')
const order = fc.option(fc.nat(4), { nil: undefined })
const some = <T extends object>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc
    .record(shape)
    .map((made) => Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)) as T)

const edit = some({
  task: id,
  title: fc.option(word, { nil: undefined }),
  description: fc.option(word, { nil: undefined }),
  status: fc.option(status, { nil: undefined }),
  order,
  removed: fc.constantFrom(undefined, undefined, undefined, true),
})
const changed = fc
  .array(edit, { minLength: 1, maxLength: 3 })
  .map((changes): object => ({ kind: 'tasks.changed', changes }))
const item = some({
  kind: fc.constant('data'),
  id,
  operation: fc.constantFrom('create', 'update', 'delete'),
  itemType: fc.constant('contact'),
  item: fc.option(word, { nil: undefined }),
})
const artifact = some({
  kind: fc.constant('artifact'),
  id,
  name: word,
  type: fc.constant('note'),
  version: fc.integer({ min: 1, max: 3 }),
  deleted: fc.constantFrom(undefined, undefined, true),
})
const listed = fc
  .uniqueArray(id, { maxLength: 4 })
  .chain((ids) =>
    fc.tuple(...ids.map((each) => fc.record({ id: fc.constant(each), title: word, status, order: fc.nat(3) }))),
  )
  .map((tasks): object => ({ kind: 'tasks', tasks }))
const worked = fc.oneof(
  id.map((task): object => ({ kind: 'task.started', task })),
  fc
    .record({ task: id, status: fc.constantFrom('done', 'failed'), result: word })
    .map((made) => ({ kind: 'task.finished', ...made })),
  fc.record({ task: id, text: word }).map((made) => ({ kind: 'task.reflected', ...made })),
)
const fact = fc.oneof(changed, changed, item, artifact, listed, worked)
const lost = fc
  .uniqueArray(node, { minLength: 1, maxLength: 3 })
  .map((nodes): object => ({ kind: 'superseded', messages: [], nodes, facts: true }))
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.tuple(fact, node).map(([made, of]): readonly [string, object] => ['r', { ...made, node: of }]),
  },
  { weight: 2, arbitrary: fc.oneof(changed, item).map((made): readonly [string, object] => ['', made]) },
  { weight: 3, arbitrary: lost.map((made): readonly [string, object] => ['r', made]) },
)
/** One run whose nodes record facts, are superseded and record again, and a person who edits in between. */
export const planLogs: fc.Arbitrary<readonly Recorded[]> = fc
  .array(step, { maxLength: 25 })
  .map((steps): readonly Recorded[] => {
    const started = { kind: 'run.started', agent: 'planner', input: { messages: [], props: { mode: 'execute' } } }
    const all: readonly (readonly [string, object])[] = [['r', started], ...steps]
    return all.map(([run, event], i) => ({ seq: i + 1, at: i + 1, run, event: event as RunEvent }))
  })
