import type { Task, TaskEdit } from './run-event.ts'

/**
 * The list after the edits, in order. A task that no edit touches stays the same object. Edits that contradict the list
 * (a task that is not there is removed) change nothing, because another writer may have been first.
 */
export function editTasks<T extends Task>(tasks: readonly T[], edits: readonly TaskEdit[]): readonly (T | Task)[] {
  const list: (T | Task)[] = [...tasks]
  for (const edit of edits) {
    const at = list.findIndex(({ id }) => id === edit.task)
    const before = list[at]
    if (edit.removed === true) {
      if (before !== undefined) list.splice(at, 1)
      continue
    }
    const after = edited(before, edit)
    if (before === undefined) list.splice(placeIn(list, edit.order), 0, after)
    else if (edit.order === undefined) list[at] = after
    else {
      list.splice(at, 1)
      list.splice(placeIn(list, edit.order), 0, after)
    }
  }
  return list.map((task, order) => (task.order === order ? task : { ...task, order }))
}

function placeIn(list: readonly unknown[], order: number | undefined): number {
  return order === undefined ? list.length : Math.max(0, Math.min(list.length, Math.trunc(order)))
}

function edited(before: Task | undefined, edit: TaskEdit): Task {
  const { task: id, title, description, status, createdAt } = edit
  const known: Task = before ?? { id, title: '', status: 'pending', order: -1 }
  return {
    ...(status === 'pending' ? withoutOutcome(known) : known),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(status === undefined ? {} : { status }),
    ...(createdAt === undefined ? {} : { createdAt }),
  }
}

/** A task that is open again has no result yet: the result of the last attempt no longer describes it. */
export function withoutOutcome<T extends Task>(task: T): T {
  const { result: _result, reflection: _reflection, ...open } = task
  return open as T
}
