import type { Task } from './run-event.ts'

/** One change of a task list that may have to be taken back: the tasks that it named or moved, before and after it. */
export interface TaskChangeMade<T extends Task = Task> {
  readonly before: readonly T[]
  readonly after: readonly T[]
}

/** Fields that are not compared: the place is, for the whole list, and what was said and called in a task stays with it. */
const kept: ReadonlySet<string> = new Set(['id', 'order', 'since', 'edited', 'content', 'calls', 'changes'])

/**
 * The list as it is without a change that no longer counts (SPEC 4.6). What others, such as a person, have changed since
 * then stays: a task that was added and is not as it was added, a field with another value, an order that was changed.
 */
export function takenBackTasks<T extends Task>(now: readonly T[], { before, after }: TaskChangeMade<T>): readonly T[] {
  const old = byId(before)
  const made = byId(after)
  const list = now.flatMap((task) => {
    const [from, to] = [old.get(task.id), made.get(task.id)]
    if (to === undefined) return [task]
    if (from === undefined) return isAs(task, to) ? [] : [task]
    return [withFields(task, from, to)]
  })
  for (const [place, task] of before.entries()) {
    if (!made.has(task.id) && !list.some(({ id }) => id === task.id)) list.splice(place, 0, task)
  }
  const ordered = wasMoved(now, made) ? list : inOrderOf(before, list)
  const known = [before, now].find((each) => sameIds(ordered, each) && isSorted(each))
  return ordered.map((task, place) => {
    const { order } = known?.[place] ?? { order: place }
    return task.order === order ? task : { ...task, order }
  })
}

function isSorted(tasks: readonly Task[]): boolean {
  return tasks.every(({ order }, i) => order >= (tasks[i - 1]?.order ?? order))
}

function byId<T extends Task>(tasks: readonly T[]): ReadonlyMap<string, T> {
  return new Map(tasks.map((task) => [task.id, task]))
}

function fieldsOf(...tasks: readonly Task[]): readonly (keyof Task)[] {
  const names = new Set(tasks.flatMap((task) => Object.keys(task)))
  return [...names].filter((name) => !kept.has(name)) as (keyof Task)[]
}

/** The times of a task say nothing that its status does not. */
const times: ReadonlySet<string> = new Set(['startedAt', 'finishedAt'])

function isAs(task: Task, made: Task): boolean {
  return fieldsOf(task, made).every((field) => times.has(field) || task[field] === made[field])
}

function withFields<T extends Task>(task: T, from: T, to: T): T {
  const back = fieldsOf(from, to).filter((field) => from[field] !== to[field] && task[field] === to[field])
  if (back.length === 0) return task
  const lost = new Set<string>(back)
  const rest = Object.entries(task).filter(([field]) => !lost.has(field))
  const restored = back.flatMap((field) => (from[field] === undefined ? [] : [[field, from[field]]]))
  return Object.fromEntries([...rest, ...restored]) as unknown as T
}

/** Whether others have put the tasks of a change in another order since. */
function wasMoved(now: readonly Task[], made: ReadonlyMap<string, Task>): boolean {
  const here = now.map(({ id }) => id).filter((id) => made.has(id))
  const there = [...made.keys()].filter((id) => now.some((task) => task.id === id))
  return here.join('\n') !== there.join('\n')
}

/** The tasks that were there before take the places of each other; those that came later stay where they are. */
function inOrderOf<T extends Task>(before: readonly T[], list: readonly T[]): readonly T[] {
  const place = new Map(before.map(({ id }, i) => [id, i]))
  const known = list.filter(({ id }) => place.has(id))
  const sorted = known.sort((a, b) => (place.get(a.id) ?? 0) - (place.get(b.id) ?? 0))
  let next = 0
  return list.map((task) => (place.has(task.id) ? (sorted[next++] ?? task) : task))
}

function sameIds(one: readonly Task[], other: readonly Task[]): boolean {
  return one.length === other.length && one.every(({ id }, i) => id === other[i]?.id)
}
