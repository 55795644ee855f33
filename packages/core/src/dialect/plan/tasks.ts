import type { RunEvent, TaskStatus } from '../../event/run-event.ts'
import type { JsonObject } from '../../json/json.ts'

/** The status of a session's tasks, which decoder and encoder fold alike, for the summary that ends an execution. */
export class PlanTasks {
  readonly #status = new Map<string, TaskStatus>()
  /** How many tasks have each status, because every run ends with a summary. */
  readonly #counts: Record<TaskStatus, number> = { pending: 0, in_progress: 0, done: 0, failed: 0 }
  /** This run works on tasks: it is an execution, not a chat. */
  executes = false

  apply(event: RunEvent): void {
    switch (event.kind) {
      case 'run.started':
        this.executes = false
        break
      case 'tasks':
        for (const id of this.#status.keys()) this.#set(id, undefined)
        for (const { id, status } of event.tasks) this.#set(id, status)
        break
      case 'task.started':
        this.executes = true
        this.#set(event.task, 'in_progress')
        break
      case 'task.finished':
        this.executes = true
        this.#set(event.task, event.status)
        break
      default:
    }
  }

  get summary(): JsonObject {
    return { total: this.#status.size, completed: this.#counts.done, failed: this.#counts.failed }
  }

  #set(id: string, status: TaskStatus | undefined): void {
    const before = this.#status.get(id)
    if (before !== undefined) this.#counts[before] -= 1
    if (status === undefined) this.#status.delete(id)
    else {
      this.#counts[status] += 1
      this.#status.set(id, status)
    }
  }
}
