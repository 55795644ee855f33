import { isObject, MillraceError, type RunEvent } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { messageOf } from '../problem.ts'
import { keepEditedCalls } from './edited-calls.ts'
import { beginInnerGraph } from './inner-memory.ts'
import type { CompiledGraph, Snapshot, StreamEvent } from './langgraph-agent.ts'
import { OwnProgress } from './own-progress.ts'

/** The message of the `log` row that holds the checkpoint of the graph's own saver from which a run began. */
export const threadMessage = 'langgraph.thread'

/** One thread of the author's saver while a run uses it: which writes are not stored yet, and whether one failed. */
export class OwnSaver {
  readonly name: string
  readonly progress: OwnProgress
  readonly #pending = new Set<Promise<unknown>>()
  readonly #abort = new AbortController()
  #failure: MillraceError | undefined

  constructor(name: string, progress: OwnProgress) {
    this.name = name
    this.progress = progress
  }

  /** Fires when the saver could not store something: what the graph does after that could not be continued. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Resolves once everything that the graph gave to the saver so far is stored. */
  async stored(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending)
  }

  /**
   * A write of LangGraph, which looks at the result only after its step. Until then a failure would be a rejection
   * without a handler, which ends the process of the agent.
   */
  write(given: Promise<unknown>, instead: unknown): Promise<unknown> {
    const kept = given.catch((error: unknown) => {
      this.#failure ??= this.failed(error)
      this.#abort.abort(this.#failure)
      return instead
    })
    this.#pending.add(kept)
    void kept.then(() => this.#pending.delete(kept))
    return kept
  }

  failed(error: unknown): MillraceError {
    if (error instanceof MillraceError) return error
    const problem = `the graph's own checkpointer (${this.name}) failed: ${messageOf(error)}`
    return new MillraceError('agent-error', `${problem}. Check the database that it writes to.`, {}, error)
  }

  /** The events of the graph; where the saver failed, they end with that. */
  async *during(events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent> {
    try {
      yield* events
    } catch (error) {
      throw this.#failure ?? error
    }
    await this.stored()
    if (this.#failure !== undefined) throw this.#failure
  }
}

/** The savers of authors whose threads are watched, and the runs that use a thread now. */
const watched = new WeakMap<object, { readonly name: string; readonly threads: Map<unknown, OwnSaver> }>()

/** The name of the class of the author's saver. */
export function saverName({ checkpointer }: CompiledGraph): string | undefined {
  if (!isObject(checkpointer)) return undefined
  const known = watched.get(checkpointer)?.name
  return known ?? String(Object.getPrototypeOf(checkpointer)?.constructor?.name ?? 'Object')
}

/** Watches the author's saver for one run. The saver stays the author's own object behind what LangGraph gets to see. */
export function ownSaver(graph: CompiledGraph, context: RunContext): { readonly saver: OwnSaver; end(): void } {
  const thread = context.session
  const given = graph.checkpointer as object
  const known = watched.get(given) ?? { name: saverName(graph) ?? '', threads: new Map<unknown, OwnSaver>() }
  if (!watched.has(given)) {
    const seen = new Proxy(given, { get: (target, key) => seenField(target, key, known.threads) })
    watched.set(seen, known)
    graph.checkpointer = seen
  }
  const saver = new OwnSaver(known.name, new OwnProgress(context))
  known.threads.set(thread, saver)
  return {
    saver,
    end() {
      if (known.threads.get(thread) === saver) known.threads.delete(thread)
    },
  }
}

function seenField(target: object, key: string | symbol, threads: ReadonlyMap<unknown, OwnSaver>): unknown {
  const field: unknown = Reflect.get(target, key, target)
  if (typeof field !== 'function' || key === 'constructor') return field
  const call = (args: readonly unknown[]): unknown => Reflect.apply(field, target, args)
  if (key !== 'put' && key !== 'putWrites' && key !== 'getTuple') return (...args: readonly unknown[]) => call(args)
  return async (...args: readonly unknown[]) => {
    const saver = threads.get(placeIn(args[0]).thread_id)
    if (saver === undefined) return call(args)
    if (key === 'getTuple') return read(saver, args[0], call)
    const result = keepEditedCalls(args[1]).then(() => call(args))
    return saver.write(
      result.then((stored) => {
        follow(saver.progress, key, args)
        return stored
      }),
      args[0],
    )
  }
}

/** Reads a checkpoint: without an id, the newest one that the log knows. */
async function read(saver: OwnSaver, asked: unknown, call: (args: readonly unknown[]) => unknown): Promise<unknown> {
  const { thread_id, checkpoint_ns = '', checkpoint_id } = placeIn(asked)
  const namespace = String(checkpoint_ns)
  try {
    if (checkpoint_id !== undefined) return await call([asked])
    const id = saver.progress.instead(namespace)
    const known = id === undefined ? undefined : { configurable: { thread_id, checkpoint_ns, checkpoint_id: id } }
    const found = (known === undefined ? undefined : await call([known])) ?? (await call([asked]))
    const tuple = saver.progress.read(namespace, found)
    beginInnerGraph(asked, tuple)
    return tuple
  } catch (error) {
    throw saver.failed(error)
  }
}

/** Notes what is stored now: `put(config, checkpoint, metadata)`, `putWrites(config, writes, task)`. */
function follow(progress: OwnProgress, key: 'put' | 'putWrites', [config, stored, last]: readonly unknown[]): void {
  if (key === 'putWrites') {
    progress.wrote(String(last), stored as readonly (readonly [string, unknown])[])
    return
  }
  const id = isObject(stored) ? stored.id : undefined
  progress.put(String(placeIn(config).checkpoint_ns ?? ''), id, isObject(last) ? last.step : undefined)
}

function placeIn(config: unknown): Readonly<Record<string, unknown>> {
  return isObject(config) && isObject(config.configurable) ? config.configurable : {}
}

/** Recorded once in a session whose graph keeps its checkpoints itself. */
export function ownSaverNote(saver: OwnSaver, { session, history }: RunContext): readonly RunEvent[] {
  const message = `the graph keeps its checkpoints in its own ${saver.name}, in the thread ${session}`
  const isSaid = history.some(({ event }) => event.kind === 'log' && event.message === message)
  return isSaid ? [] : [{ kind: 'log', level: 'info', message }]
}

/** Recorded where the log has earlier runs of the graph and its saver has none of them: a fork, an import, an empty database. */
export function lostThread(before: Snapshot, saver: OwnSaver, { history, run }: RunContext): readonly RunEvent[] {
  const isLost = checkpointOf(before) === null && history.some((row) => row.run !== run && isThread(row.event))
  const message = `the graph's own ${saver.name} has no checkpoints of this session, so the graph begins without what was said before`
  return isLost ? [{ kind: 'log', level: 'warn', message }] : []
}

/** Recorded as a run begins, so that after a crash it is known whether the saver has taken its input. */
export function threadEvent(before: Snapshot, { history, run }: RunContext): readonly RunEvent[] {
  if (history.some((row) => row.run === run && isThread(row.event))) return []
  return [{ kind: 'log', level: 'debug', message: threadMessage, data: { checkpoint: checkpointOf(before) } }]
}

/** After a crash: whether the saver has a checkpoint of this very run. */
export function hasBegunIn(before: Snapshot, { history, run }: RunContext): boolean {
  const began = history.find((row) => row.run === run && isThread(row.event))?.event
  if (began?.kind !== 'log' || !isObject(began.data)) return false
  return began.data.checkpoint !== checkpointOf(before)
}

function isThread(event: RunEvent): boolean {
  return event.kind === 'log' && event.message === threadMessage
}

function checkpointOf({ config }: Snapshot): string | null {
  const id = config?.configurable?.checkpoint_id
  return typeof id === 'string' ? id : null
}
