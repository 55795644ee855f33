import type { JsonObject } from '../event/json.ts'
import type { RunEvent, TaskStatus } from '../event/run-event.ts'

/** The tasks of a session as both sides of the wire fold them, for the summary that ends an execution. */
export class PlanTasks {
  readonly #status = new Map<string, TaskStatus>()
  /** This run works on tasks: it is an execution, not a chat. */
  executes = false

  apply(event: RunEvent): void {
    switch (event.kind) {
      case 'run.started':
        this.executes = false
        break
      case 'tasks':
        this.#status.clear()
        for (const { id, status } of event.tasks) this.#status.set(id, status)
        break
      case 'task.started':
        this.executes = true
        this.#status.set(event.task, 'in_progress')
        break
      case 'task.finished':
        this.executes = true
        this.#status.set(event.task, event.status)
        break
      default:
    }
  }

  get summary(): JsonObject {
    const all = [...this.#status.values()]
    return {
      total: all.length,
      completed: all.filter((status) => status === 'done').length,
      failed: all.filter((status) => status === 'failed').length,
    }
  }
}
