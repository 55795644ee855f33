import type {
  Recorded,
  Task,
  TaskFinished,
  TaskReflected,
  TaskStarted,
  TaskStatus,
  TasksChanged,
} from '../../event/run-event.ts'
import { editTasks, withoutOutcome } from '../../event/task-edit.ts'
import { Dictionary } from '../../persistent/dictionary.ts'
import { Sequence } from '../../persistent/sequence.ts'
import type { PlanState, PlanTask, TaskChange } from './state.ts'

type Row = Pick<Recorded, 'seq' | 'at' | 'run'>

/** Replaces the list: tasks that stay keep their history, tasks that are not in the new list are removed. */
export function tasksSet(state: PlanState, row: Row, given: readonly Task[]): PlanState {
  let tasks: Sequence<PlanTask> = Sequence.empty
  let taskAt: Dictionary<number> = Dictionary.empty
  const order = (task: Task): number => (typeof task.order === 'number' ? task.order : 0)
  for (const task of [...given].sort((a, b) => order(a) - order(b))) {
    const made = merged(taskOf(state, task.id), task, row)
    const twice = taskAt.get(task.id)
    tasks = twice === undefined ? tasks.append(made) : tasks.with(twice, made)
    taskAt = taskAt.set(task.id, twice ?? tasks.length - 1)
  }
  const { current, ...rest } = state
  const next = { ...rest, tasks, taskAt, removed: withRemoved(state, taskAt), summary: summaryOf(tasks) }
  const kept = current === undefined || taskAt.get(current) === undefined ? next : { ...next, current }
  const planning = state.executing === undefined && kept.summary.completed + kept.summary.failed < tasks.length
  return planning ? { ...kept, mode: 'planning' } : kept
}

/** Applies changes to the list as it is now, so that a change never undoes another one that it did not know. */
export function tasksChanged(state: PlanState, row: Row, { changes }: TasksChanged): PlanState {
  return tasksSet(state, row, editTasks(state.tasks.toArray(), changes))
}

/** The tasks that were removed, and now also those that a new list no longer has. */
export function withRemoved(state: PlanState, taskAt: PlanState['taskAt']): PlanState['removed'] {
  let { removed } = state
  for (const { id } of state.tasks) if (taskAt.get(id) === undefined) removed = removed.set(id, true)
  return removed
}

export function taskStarted(state: PlanState, row: Row, { task }: TaskStarted): PlanState {
  const next = settled(knownTask(state, task, row), task, row, 'in_progress', { startedAt: row.at })
  const current = taskOf(next, task) === undefined ? {} : { current: task }
  return { ...next, mode: 'executing', executing: row.run, ...current }
}

export function taskFinished(state: PlanState, row: Row, { task, status, result }: TaskFinished): PlanState {
  const { current, ...next } = settled(knownTask(state, task, row), task, row, status, { result, finishedAt: row.at })
  return current === undefined || current === task ? next : { ...next, current }
}

export function taskReflected(state: PlanState, row: Row, { task, text }: TaskReflected): PlanState {
  const known = knownTask(state, task, row)
  if (taskOf(known, task) === undefined) return state
  const next = changeTask(known, task, (before) => ({ ...before, reflection: text }))
  return { ...next, reflections: next.reflections.append({ task, text, seq: row.seq }) }
}

/**
 * A stream that only executes has no list: an event about a task then adds the task, without a title. A task that was
 * removed stays removed.
 */
export function knownTask(state: PlanState, id: string, row: Row): PlanState {
  if (state.taskAt.get(id) !== undefined || state.removed.get(id) === true) return state
  const made = untitled(id, state.tasks.length, row)
  return {
    ...state,
    tasks: state.tasks.append(made),
    taskAt: state.taskAt.set(id, state.tasks.length),
    summary: { ...state.summary, total: state.summary.total + 1 },
  }
}

/** A task of which nothing is known but its id. */
export function untitled(id: string, order: number, row: Pick<Row, 'seq' | 'at' | 'run'>): PlanTask {
  return { ...merged(undefined, { id, title: '', status: 'pending', order }, row), changes: Sequence.empty }
}

export function changeTask(state: PlanState, id: string, change: (task: PlanTask) => PlanTask): PlanState {
  const at = state.taskAt.get(id)
  const task = at === undefined ? undefined : state.tasks.at(at)
  if (at === undefined || task === undefined) return state
  const tasks = state.tasks.with(at, change(task))
  return tasks === state.tasks ? state : { ...state, tasks }
}

export function taskOf(state: PlanState, id: string): PlanTask | undefined {
  const at = state.taskAt.get(id)
  return at === undefined ? undefined : state.tasks.at(at)
}

function settled(state: PlanState, id: string, row: Row, status: TaskStatus, facts: Partial<PlanTask>): PlanState {
  const before = taskOf(state, id)?.status
  if (before === undefined) return state
  const next = changeTask(state, id, (task) => ({
    ...task,
    ...facts,
    status,
    changes: status === task.status ? task.changes : task.changes.append(changeOf(row, status)),
  }))
  const step = (of: TaskStatus): number => (status === of ? 1 : 0) - (before === of ? 1 : 0)
  const { total, completed, failed } = next.summary
  return { ...next, summary: { total, completed: completed + step('done'), failed: failed + step('failed') } }
}

function merged(known: PlanTask | undefined, task: Task, row: Row): PlanTask {
  if (known === task) return known
  const first = changeOf(row, task.status)
  if (known === undefined) {
    const nothing = { since: row.seq, calls: Sequence.empty, content: Sequence.empty }
    return { ...task, ...nothing, changes: Sequence.from([first]) }
  }
  const edited = known.title !== task.title || known.description !== task.description || known.order !== task.order
  const opened = task.status === 'pending' && known.status !== 'pending'
  return {
    ...(opened ? withoutTimes(withoutOutcome(known)) : known),
    ...(opened ? withoutTimes(task) : task),
    changes: known.status === task.status ? known.changes : known.changes.append(first),
    ...(edited && row.run === '' ? { edited: row.seq } : {}),
  }
}

function withoutTimes<T extends Task & Pick<PlanTask, 'startedAt' | 'finishedAt'>>(task: T): T {
  const { startedAt: _started, finishedAt: _finished, ...rest } = task
  return rest as T
}

/** A change outside any run is made by a person. */
function changeOf({ seq, at, run }: Row, status: TaskStatus): TaskChange {
  return { status, seq, at, by: run === '' ? 'user' : 'agent' }
}

export function summaryOf(tasks: Iterable<PlanTask>): PlanState['summary'] {
  let [total, completed, failed] = [0, 0, 0]
  for (const { status } of tasks) {
    total++
    if (status === 'done') completed++
    if (status === 'failed') failed++
  }
  return { total, completed, failed }
}
