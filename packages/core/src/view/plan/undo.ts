import type { NodeId, Recorded, RunEvent, Superseded } from '../../event/run-event.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import type { PlanArtifact, PlanData, PlanState, PlanTask, Undo } from './state.ts'
import { summaryOf, taskOf } from './task.ts'

const undoKey = (run: string, node: NodeId): string => `${run}\n${node}`

/** Remembers what a fact of a node replaced, until the node has ended. */
export function withUndo(before: PlanState, after: PlanState, { event, run, seq }: Recorded): PlanState {
  if (after === before || !('node' in event) || event.node === undefined) return after
  const entry = undoOf(before, event, seq)
  if (entry === undefined) return after
  const key = undoKey(run, event.node)
  return { ...after, undo: after.undo.set(key, (after.undo.get(key) ?? Sequence.empty).append(entry)) }
}

function undoOf(state: PlanState, event: RunEvent, seq: number): Undo | undefined {
  switch (event.kind) {
    case 'data':
      return { kind: 'data', id: event.id, seq, before: itemAt(state.data, state.dataAt.get(event.id)) }
    case 'artifact':
      return { kind: 'artifact', id: event.id, seq, before: itemAt(state.artifacts, state.artifactAt.get(event.id)) }
    case 'tasks':
    case 'tasks.changed': {
      const { mode, tasks, taskAt, summary } = state
      return { kind: 'tasks', seq, before: { mode, tasks, taskAt, summary } }
    }
    case 'task.started':
    case 'task.finished':
    case 'task.reflected':
      return { kind: 'task', id: event.task, seq, before: taskOf(state, event.task) }
    default:
      return undefined
  }
}

function itemAt<T>(items: Sequence<T>, at: number | undefined): T | undefined {
  return at === undefined ? undefined : items.at(at)
}

/** The node has ended: its facts stay. */
export function settledNode(state: PlanState, run: string, node: NodeId): PlanState {
  const key = undoKey(run, node)
  return state.undo.get(key) === undefined ? state : { ...state, undo: state.undo.delete(key) }
}

/** The nodes run again from their start: their facts are taken back, the latest first (SPEC 4.6). */
export function undone(state: PlanState, run: string, { nodes }: Superseded): PlanState {
  const entries = nodes.flatMap((node) => state.undo.get(undoKey(run, node))?.toArray() ?? [])
  let next = state
  for (const entry of entries.sort((a, b) => b.seq - a.seq)) next = takenBack(next, entry)
  for (const node of nodes) next = settledNode(next, run, node)
  return next
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
    case 'task':
      return withTaskBack(state, entry.id, entry.seq, entry.before)
    case 'tasks':
      return withoutCurrent({ ...state, ...entry.before })
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

/**
 * Its text and calls stay: those of the lost attempt are marked with their messages. So do its words and its place,
 * which a node at work on it never changes, but a person may have.
 */
function withTaskBack(state: PlanState, id: string, seq: number, before: PlanTask | undefined): PlanState {
  const now = taskOf(state, id)
  const at = state.taskAt.get(id)
  if (now === undefined || at === undefined) return state
  const back = before ?? { id, title: '', status: 'pending' as const, order: now.order, since: now.since }
  const { content, calls, title, order } = now
  const words = {
    title,
    order,
    ...(now.description === undefined ? {} : { description: now.description }),
    ...(now.edited === undefined ? {} : { edited: now.edited }),
  }
  const changes = before?.changes ?? Sequence.empty
  const tasks = state.tasks.with(at, { ...back, ...words, content, calls, changes })
  const reflections = state.reflections.toArray().filter((each) => each.seq !== seq)
  return withoutCurrent({ ...state, tasks, reflections: Sequence.from(reflections), summary: summaryOf(tasks) })
}

function withoutCurrent(state: PlanState): PlanState {
  const { current, ...rest } = state
  return current === undefined || taskOf(state, current)?.status === 'in_progress' ? state : rest
}
