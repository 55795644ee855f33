import type { Recorded, Superseded } from '../../event/run-event.ts'
import { takenBackTasks } from '../../event/task-undo.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import type { PlanArtifact, PlanData, PlanState, PlanTask, Undo } from './state.ts'
import { summaryOf, taskOf, untitled, withRemoved } from './task.ts'

/** Remembers what a fact of a node replaced, until the run has ended. */
export function withUndo(before: PlanState, after: PlanState, row: Recorded): PlanState {
  const { event, run } = row
  if (after === before || !('node' in event) || event.node === undefined) return after
  const entry = undoOf(before, after, row)
  if (entry === undefined) return after
  const nodes = after.undo.get(run) ?? Dictionary.empty
  const entries = (nodes.get(event.node) ?? Sequence.empty).append(entry)
  return { ...after, undo: after.undo.set(run, nodes.set(event.node, entries)) }
}

function undoOf(state: PlanState, after: PlanState, row: Recorded): Undo | undefined {
  const { event, seq } = row
  const mode = { before: state.mode, after: after.mode }
  switch (event.kind) {
    case 'data':
      return { kind: 'data', id: event.id, seq, before: itemAt(state.data, state.dataAt.get(event.id)) }
    case 'artifact':
      return { kind: 'artifact', id: event.id, seq, before: itemAt(state.artifacts, state.artifactAt.get(event.id)) }
    case 'tasks':
    case 'tasks.changed':
      return { kind: 'tasks', seq, mode, before: state.tasks.toArray(), after: after.tasks.toArray() }
    case 'task.started':
    case 'task.finished':
    case 'task.reflected': {
      const is = taskOf(after, event.task)
      if (is === undefined) return undefined
      // A task that was never listed stays: other events of the run may name it.
      const was = taskOf(state, event.task) ?? untitled(is.id, is.order, row)
      return { kind: 'tasks', seq, mode, before: [was], after: [is] }
    }
    default:
      return undefined
  }
}

function itemAt<T>(items: Sequence<T>, at: number | undefined): T | undefined {
  return at === undefined ? undefined : items.at(at)
}

/** The run has ended: its facts stay. */
export function settledRun(state: PlanState, run: string): PlanState {
  return state.undo.get(run) === undefined ? state : { ...state, undo: state.undo.delete(run) }
}

/** The nodes run again from their start: their facts are taken back, the latest first (SPEC 4.6). */
export function undone(state: PlanState, run: string, { nodes }: Superseded): PlanState {
  let known = state.undo.get(run)
  if (known === undefined) return state
  const entries = nodes.flatMap((node) => known?.get(node)?.toArray() ?? [])
  let next = state
  for (const entry of entries.sort((a, b) => b.seq - a.seq)) next = takenBack(next, entry)
  for (const node of nodes) known = known.delete(node)
  return { ...next, undo: next.undo.set(run, known) }
}

function takenBack(state: PlanState, entry: Undo): PlanState {
  switch (entry.kind) {
    case 'data': {
      const [data, dataAt] = restored<PlanData>(state.data, state.dataAt, entry)
      return data === state.data ? state : { ...state, data, dataAt }
    }
    case 'artifact': {
      const [artifacts, artifactAt] = restored<PlanArtifact>(state.artifacts, state.artifactAt, entry)
      return artifacts === state.artifacts ? state : { ...state, artifacts, artifactAt }
    }
    case 'tasks':
      return tasksTakenBack(state, entry)
  }
}

/** An item that another node changed in the meantime stays as it is. */
function restored<T extends { readonly id: string; readonly seq: number }>(
  items: Sequence<T>,
  places: Dictionary<number>,
  { id, seq, before }: { readonly id: string; readonly seq: number; readonly before: T | undefined },
): readonly [Sequence<T>, Dictionary<number>] {
  const at = places.get(id)
  if (at === undefined || items.at(at)?.seq !== seq) return [items, places]
  if (before !== undefined) return [items.with(at, before), places]
  const rest = items.toArray().filter((_, i) => i !== at)
  return [Sequence.from(rest), placesOf(rest)]
}

function placesOf(items: readonly { readonly id: string }[]): Dictionary<number> {
  let places: Dictionary<number> = Dictionary.empty
  for (const [i, { id }] of items.entries()) places = places.set(id, i)
  return places
}

function tasksTakenBack(state: PlanState, entry: Extract<Undo, { kind: 'tasks' }>): PlanState {
  const { seq, mode } = entry
  const list = takenBackTasks(state.tasks.toArray(), entry).map((task) => withoutChange(task, seq))
  const tasks = Sequence.from(list)
  const taskAt = placesOf(list)
  const reflections = state.reflections.toArray().filter((each) => each.seq !== seq)
  return withoutCurrent({
    ...state,
    mode: state.mode === mode.after ? mode.before : state.mode,
    tasks,
    taskAt,
    removed: withRemoved(state, taskAt),
    reflections: reflections.length === state.reflections.length ? state.reflections : Sequence.from(reflections),
    summary: summaryOf(tasks),
  })
}

/** Without the status that the fact gave it. */
function withoutChange(task: PlanTask, seq: number): PlanTask {
  const changes = task.changes.toArray().filter((change) => change.seq !== seq)
  return changes.length === task.changes.length ? task : { ...task, changes: Sequence.from(changes) }
}

function withoutCurrent(state: PlanState): PlanState {
  const { current, ...rest } = state
  return current === undefined || taskOf(state, current)?.status === 'in_progress' ? state : rest
}
