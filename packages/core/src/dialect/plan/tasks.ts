import type { RunEvent, Task, TaskStatus } from '../../event/run-event.ts'
import { editTasks } from '../../event/task-edit.ts'
import type { JsonObject } from '../../json/json.ts'

/**
 * A session's tasks, which decoder and encoder fold alike: for the list, which this wire always sends whole, and for the
 * summary that ends an execution.
 */
export class PlanTasks {
  readonly #tasks = new Map<string, Task>()
  /** Tasks that were removed. A run that is still at work on one does not bring it back. */
  readonly #removed = new Set<string>()
  /** How many tasks have each status, because every execution ends with a summary. */
  readonly #counts: Record<TaskStatus, number> = { pending: 0, in_progress: 0, done: 0, failed: 0 }
  /** This run works on tasks: it is an execution, not a chat. */
  executes = false

  apply(event: RunEvent): void {
    switch (event.kind) {
      case 'run.started':
        this.executes = event.input.props?.mode === 'execute'
        break
      case 'tasks':
        this.#replace(event.tasks)
        break
      case 'tasks.changed':
        this.#replace(editTasks(this.list, event.changes))
        for (const { task } of event.changes) if (!this.#tasks.has(task)) this.#removed.add(task)
        break
      case 'task.started':
        this.executes = true
        this.#change(event.task, { status: 'in_progress' })
        break
      case 'task.finished':
        this.executes = true
        this.#change(event.task, { status: event.status, result: event.result })
        break
      case 'task.reflected':
        if (this.#tasks.has(event.task)) this.#change(event.task, { reflection: event.text })
        break
      default:
    }
  }

  get list(): readonly Task[] {
    return [...this.#tasks.values()]
  }

  get summary(): JsonObject {
    return { total: this.#tasks.size, completed: this.#counts.done, failed: this.#counts.failed }
  }

  #replace(tasks: readonly Task[]): void {
    for (const { status } of this.#tasks.values()) this.#counts[status] -= 1
    this.#tasks.clear()
    for (const task of tasks) this.#set(task)
  }

  #change(id: string, change: Partial<Task>): void {
    const known = this.#tasks.get(id)
    if (known === undefined && this.#removed.has(id)) return
    this.#set({ ...(known ?? { id, title: '', status: 'pending', order: this.#tasks.size }), ...change })
  }

  #set(task: Task): void {
    const before = this.#tasks.get(task.id)
    if (before !== undefined) this.#counts[before.status] -= 1
    this.#counts[task.status] += 1
    this.#tasks.set(task.id, task)
  }
}
