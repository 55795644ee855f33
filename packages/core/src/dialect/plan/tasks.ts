import type { RunEvent, Superseded, Task, TaskStatus } from '../../event/run-event.ts'
import { editTasks, withoutOutcome } from '../../event/task-edit.ts'
import { type TaskChangeMade, takenBackTasks } from '../../event/task-undo.ts'
import type { JsonObject } from '../../json/json.ts'
import { Undoing } from './undoing.ts'

/**
 * A session's tasks, which decoder and encoder fold alike, and as the plan view does: for the list, which this wire always
 * sends whole, and for the summary that ends an execution.
 */
export class PlanTasks {
  #tasks = new Map<string, Task>()
  /** Tasks that were removed. A run that is still at work on one does not bring it back. */
  readonly #removed = new Set<string>()
  /** How many tasks have each status, because every execution ends with a summary. */
  readonly #counts: Record<TaskStatus, number> = { pending: 0, in_progress: 0, done: 0, failed: 0 }
  readonly #undoing = new Undoing<TaskChangeMade>()
  /** This run works on tasks: it is an execution, not a chat. */
  executes = false

  apply(event: RunEvent, run = ''): void {
    switch (event.kind) {
      case 'run.started':
        this.executes = event.input.props?.mode === 'execute'
        break
      case 'tasks': {
        const before = this.list
        this.#replace(event.tasks)
        this.#undoing.note(run, event.node, { before, after: this.list })
        break
      }
      case 'tasks.changed': {
        const before = this.list
        this.#replace(editTasks(before, event.changes))
        this.#undoing.note(run, event.node, { before, after: this.list })
        break
      }
      case 'task.started':
        this.executes = true
        this.#change(event.task, { status: 'in_progress' }, run, event.node)
        break
      case 'task.finished':
        this.executes = true
        this.#change(event.task, { status: event.status, result: event.result }, run, event.node)
        break
      case 'task.reflected':
        this.#change(event.task, { reflection: event.text }, run, event.node)
        break
      case 'run.finished':
        this.#undoing.settle(run)
        break
      default:
    }
  }

  /** Takes back what these nodes did to the tasks (SPEC 4.6). Tells whether the list is another one now. */
  takeBack(run: string, { nodes }: Superseded): boolean {
    const changes = this.#undoing.take(run, nodes)
    for (const change of changes) {
      const known = this.#tasks
      const list = takenBackTasks(this.list, change)
      this.#clear()
      for (const task of list) this.#set(task)
      this.#remove(known)
    }
    return changes.length > 0
  }

  task(id: string): Task | undefined {
    return this.#tasks.get(id)
  }

  get list(): readonly Task[] {
    return [...this.#tasks.values()]
  }

  get summary(): JsonObject {
    return { total: this.#tasks.size, completed: this.#counts.done, failed: this.#counts.failed }
  }

  /** In their order. A task that stays keeps what the new list does not say of it, unless it is open again. */
  #replace(tasks: readonly Task[]): void {
    const known = this.#tasks
    this.#clear()
    const order = ({ order: place }: Task): number => (typeof place === 'number' ? place : 0)
    for (const task of [...tasks].sort((a, b) => order(a) - order(b))) {
      const before = known.get(task.id)
      const opened = task.status === 'pending' && before?.status !== 'pending'
      this.#set(before === undefined ? task : { ...(opened ? withoutOutcome(before) : before), ...task })
    }
    this.#remove(known)
  }

  #remove(before: ReadonlyMap<string, Task>): void {
    for (const id of before.keys()) if (!this.#tasks.has(id)) this.#removed.add(id)
  }

  #clear(): void {
    for (const { status } of this.#tasks.values()) this.#counts[status] -= 1
    this.#tasks = new Map()
  }

  #change(id: string, change: Partial<Task>, run: string, node: string | undefined): void {
    if (!this.#tasks.has(id) && this.#removed.has(id)) return
    const known: Task = this.#tasks.get(id) ?? { id, title: '', status: 'pending', order: this.#tasks.size }
    const task: Task = { ...known, ...change }
    this.#set(task)
    this.#undoing.note(run, node, { before: [known], after: [task] })
  }

  #set(task: Task): void {
    const before = this.#tasks.get(task.id)
    if (before !== undefined) this.#counts[before.status] -= 1
    this.#counts[task.status] += 1
    this.#tasks.set(task.id, task)
  }
}
