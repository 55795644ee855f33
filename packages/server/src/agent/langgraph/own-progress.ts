import { isObject, type RunEvent } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import {
  type LogProgress,
  namespaceOf,
  newestBefore,
  nullTask,
  questionChannels,
  taskIdOf,
  unsavedInside,
} from './checkpoint.ts'

/** The message of the `log` row that says how far the log is in the checkpoints of the author's saver. */
export const progressMessage = 'langgraph.progress'

/** A write of a task that waits for the end of its step: the task, the channel, the value. */
type Write = readonly [task: string, channel: string, value: unknown]

/** A checkpoint with its writes, as a saver answers. */
interface Tuple {
  readonly config?: unknown
  readonly metadata?: unknown
  readonly pendingWrites?: readonly Write[]
}

/** What the log says about the author's saver. */
interface Known {
  /** The newest checkpoint of each namespace. */
  readonly spaces: ReadonlyMap<string, string>
  /** Whether the log has the end of this task. */
  isDone(task: string): boolean
}

/**
 * One thread of the author's saver, as far as the log has it. The saver stores a step before the log has all that its
 * nodes recorded: after a crash such a step would be neither shown nor carried out again. So the log says up to where it
 * follows the saver, and a run that goes on reads the saver as it was there.
 */
export class OwnProgress {
  readonly #known: Known | undefined
  readonly #spaces = new Map<string, { readonly id: string; readonly step: number }[]>()
  /** The tasks with writes of this run, or from before it. */
  readonly #done = new Set<string>([nullTask])
  /** The tasks that run again although the saver has their writes, and what they write now: savers keep the first writes. */
  readonly #again = new Map<string, readonly Write[]>()
  /** The namespaces and the tasks that this run has written. */
  readonly #written = new Set<string>()

  constructor(context: Pick<RunContext, 'history' | 'sealed' | 'run' | 'resumed'>) {
    this.#known = knownTo(context)
  }

  /** A checkpoint is stored. */
  put(namespace: string, id: unknown, step: unknown): void {
    if (typeof id !== 'string') return
    this.#written.add(namespace)
    this.#add(namespace, id, step)
  }

  /** Writes of a task are stored. */
  wrote(task: string, writes: readonly (readonly [string, unknown])[]): void {
    this.#written.add(task)
    const before = this.#again.get(task)
    if (before === undefined) return
    const made = writes.map(([channel, value]): Write => [task, channel, value])
    const kept = before.filter(([, channel]) => !made.some(([, other]) => other === channel))
    this.#again.set(task, [...kept, ...made])
  }

  /** The checkpoint to read in a namespace instead of the newest one. */
  instead(namespace: string): string | undefined {
    return this.#written.has(namespace) ? undefined : this.#known?.spaces.get(namespace)
  }

  /** What the saver answered, without what the log does not have. */
  read<T>(namespace: string, found: T): T {
    if (!isObject(found)) return found
    const tuple: Tuple = found
    const writes = tuple.pendingWrites ?? []
    const kept = this.#written.has(namespace) ? writes : this.#followed(writes)
    this.#add(namespace, checkpointIn(tuple.config), isObject(tuple.metadata) ? tuple.metadata.step : undefined)
    for (const [task] of kept) this.#done.add(task)
    return { ...found, pendingWrites: kept }
  }

  #followed(writes: readonly Write[]): readonly Write[] {
    const known = this.#known
    if (known === undefined) return writes
    const kept: Write[] = []
    for (const write of writes) {
      const [task, channel] = write
      const isFollowed = known.isDone(task)
      const isOfThisRun = this.#written.has(task) && !this.#again.has(task)
      if (questionChannels.has(channel) || isFollowed || isOfThisRun) kept.push(write)
      else if (!this.#again.has(task)) this.#again.set(task, [])
    }
    return [...kept, ...[...this.#again.values()].flat()]
  }

  #add(namespace: string, id: unknown, step: unknown): void {
    if (typeof id !== 'string') return
    const list = this.#spaces.get(namespace) ?? []
    if (!list.some((each) => each.id === id)) list.push({ id, step: typeof step === 'number' ? step : -1 })
    this.#spaces.set(namespace, list)
  }

  /** The row that says how far the log is. */
  event({ open, ended, inner = [] }: LogProgress): RunEvent {
    const spaces = [...this.#spaces].flatMap(([namespace, list]) => {
      const isHere = ({ task }: { readonly task: unknown }): boolean => namespaceOf(task) === namespace
      const id = newestBefore(list, open.filter(isHere), ended?.filter(isHere) ?? [])
      return id === undefined ? [] : [{ namespace, id }]
    })
    const again = [...open, ...(ended ?? [])].flatMap(({ task, node }) =>
      this.#again.has(taskIdOf(task)) && !this.#written.has(namespaceOf(task)) ? (node ?? []) : [],
    )
    const unsaved = [...new Set([...unsavedInside(inner, new Set(this.#spaces.keys())), ...again])]
    const tasks =
      ended === undefined
        ? { open: open.map(({ task }) => taskIdOf(task)) }
        : { done: [...this.#done, ...ended.map(({ task }) => taskIdOf(task))] }
    const data = {
      spaces,
      ...tasks,
      ...(unsaved.length === 0 ? {} : { unsaved }),
    }
    return { kind: 'log', level: 'debug', message: progressMessage, data }
  }
}

/** What the log says, for a run that goes on after a crash: the row is its newest one, and this server wrote it. */
function knownTo({ history, sealed, run, resumed }: ConstructorParameters<typeof OwnProgress>[0]): Known | undefined {
  const row = resumed && sealed !== undefined ? history.findLast(({ seq }) => seq === sealed) : undefined
  if (row?.run !== run || row.event.kind !== 'log' || row.event.message !== progressMessage) return undefined
  const { spaces, open, done } = row.event.data as {
    readonly spaces: readonly { readonly namespace: string; readonly id: string }[]
    /** The ids of the tasks that run; for a graph with a cache, those of the tasks that have ended instead. */
    readonly open?: readonly string[]
    readonly done?: readonly string[]
  }
  return {
    spaces: new Map(spaces.map(({ namespace, id }) => [namespace, id])),
    isDone: (task) => done?.includes(task) ?? open?.includes(task) !== true,
  }
}

function checkpointIn(config: unknown): unknown {
  return isObject(config) && isObject(config.configurable) ? config.configurable.checkpoint_id : undefined
}
