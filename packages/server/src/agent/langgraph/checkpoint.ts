import { isObject, MillraceError, type NodeId, type RunEvent } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { sizeText } from '../tool-result.ts'
import { type DeltaStep, deltaSteps, type StoredCheckpoints, type Writes } from './delta-history.ts'
import { beginInnerGraph } from './inner-memory.ts'
import type { CompiledGraph } from './langgraph-agent.ts'

/** The message of the `log` row that holds a graph's checkpoint, so that another process can continue the graph. */
export const checkpointMessage = 'langgraph.checkpoint'

/** The message of the `log` row where a step has no checkpoint, because the state was too large then. */
export const checkpointLeftOut = 'the state of the graph is too large for a checkpoint after this step'

export function isCheckpoint(event: RunEvent): boolean {
  return event.kind === 'log' && event.message === checkpointMessage
}

/** The version of the stored form. Another one is ignored: read as this one, its messages would be plain objects. */
const form = 1

/** Characters of a checkpoint: it goes into the log as one event, and the rest of the event needs room too. */
const maxCheckpoint = 4_000_000

/** What LangGraph's MemorySaver stores: per thread and namespace, serialised checkpoints and writes. */
interface Saver {
  storage: Record<string, Record<string, StoredCheckpoints>>
  writes: Record<string, Writes>
}

/** How far the log is: the graph may be ahead of it. */
export interface LogProgress {
  /** The tasks that the log has as running: LangGraph's names for them, and their steps. */
  readonly open: readonly { readonly task: unknown; readonly step: number; readonly node?: NodeId }[]
  /**
   * The ended tasks, for a graph with a cache: a task that is answered from there is not reported before the task has
   * written. Absent: a task that is not open has ended.
   */
  readonly ended?: LogProgress['open'] | undefined
  /** The ended nodes inside nodes that run. They run again with those, if their graph has no checkpoints. */
  readonly inner?: readonly { readonly task: unknown; readonly node: NodeId }[]
}

export interface SeededSaver {
  readonly saver: Saver
  /** Whether it takes the place of an in-memory saver that the author gave the graph. */
  readonly replaced: boolean
  /** The tasks whose writes came from the log. */
  readonly loaded: ReadonlySet<string>
  forget(thread: string): void
}

const savers = new WeakMap<CompiledGraph, Pick<SeededSaver, 'saver' | 'replaced'>>()

/** Recorded once in a session whose graph was compiled with an in-memory saver. */
export const replacedSaver = {
  kind: 'log',
  level: 'info',
  message: 'the graph’s in-memory checkpointer is replaced by the log, so that its runs survive a restart',
} as const

/** Where the checkpoints of a graph are kept. */
export function checkpointsIn(graph: CompiledGraph): 'log' | 'own' {
  return savers.has(graph) || !hasSaver(graph) || isInMemory(graph.checkpointer) ? 'log' : 'own'
}

function hasSaver({ checkpointer }: CompiledGraph): boolean {
  return checkpointer !== undefined && checkpointer !== false && checkpointer !== null && checkpointer !== true
}

/** LangGraph's own class, by name: a graph may bring its own copy of the library. */
function isInMemory(saver: unknown): boolean {
  if (!isObject(saver)) return false
  for (let type = Object.getPrototypeOf(saver); type !== null; type = Object.getPrototypeOf(type)) {
    if (/^(In)?MemorySaver$/.test(String(type.constructor?.name))) return isObject(saver.storage)
  }
  return false
}

/**
 * Gives a graph without a checkpointer, or with one in memory, a checkpointer that is filled from the last checkpoint of
 * the history that this server wrote, and cleared after the run, because the log is the only truth. Any other
 * checkpointer is kept.
 */
export async function seedCheckpoint(graph: CompiledGraph, context: RunContext): Promise<SeededSaver | undefined> {
  let known = savers.get(graph)
  if (known === undefined) {
    const replaced = isInMemory(graph.checkpointer)
    if (hasSaver(graph) && !replaced) return undefined
    const { MemorySaver } = await import('@langchain/langgraph')
    const { serializer } = await import('./serializer.ts')
    const made = new MemorySaver(serializer)
    const read = made.getTuple.bind(made)
    made.getTuple = async (config) => {
      const tuple = await read(config)
      beginInnerGraph(config, tuple)
      return tuple
    }
    graph.checkpointer = made
    known = { saver: made as unknown as Saver, replaced }
    savers.set(graph, known)
  }
  const { saver: seeded, replaced } = known
  const { readStored } = await import('./serializer.ts')
  load(seeded, context.session, ownCheckpoint(context)?.data, readStored)
  const loaded = Object.entries(seeded.writes).flatMap(([key, writes]) =>
    threadOf(key) === context.session ? Object.values(writes).map(([task]) => task) : [],
  )
  return {
    saver: seeded,
    replaced,
    loaded: new Set(loaded),
    forget(thread) {
      delete seeded.storage[thread]
      for (const key of Object.keys(seeded.writes)) if (threadOf(key) === thread) delete seeded.writes[key]
    },
  }
}

/**
 * The newest checkpoint of each namespace and its pending writes: all that continuing the graph needs, with the steps of
 * its delta channels. Where the graph is ahead of the log, it is the newest checkpoint before the tasks that the log has
 * as open.
 */
export function checkpointEvent(
  { saver, loaded }: SeededSaver,
  thread: string,
  { open, ended, inner = [] }: LogProgress = { open: [] },
): RunEvent {
  const done =
    ended === undefined ? undefined : new Set([nullTask, ...loaded, ...ended.map(({ task }) => taskIdOf(task))])
  const spaces = Object.entries(saver.storage[thread] ?? {}).flatMap(([namespace, checkpoints]) => {
    const inside = open.filter(({ task }) => namespaceOf(task) === namespace)
    const behind = ended?.filter(({ task }) => namespaceOf(task) === namespace) ?? []
    const list = Object.entries(checkpoints).map(([id, [, metadata]]) => ({ id, step: stepOf(metadata) }))
    const newest = newestBefore(list, inside, behind)
    const stored = newest === undefined ? undefined : checkpoints[newest]
    if (newest === undefined || stored === undefined) return []
    const [checkpoint, metadata, parent] = stored
    const writesOf = (id: string): Writes => saver.writes[JSON.stringify([thread, namespace, id])] ?? {}
    const unended = new Set(inside.map(({ task }) => taskIdOf(task)))
    const writes = Object.entries(writesOf(newest)).filter(
      ([, [task, channel]]) => questionChannels.has(channel) || (done?.has(task) ?? !unended.has(task)),
    )
    const steps = deltaSteps(checkpoints, newest, writesOf).map((step) => inLog(step))
    const kept = inLog({ id: newest, checkpoint, metadata, parent, writes: Object.fromEntries(writes) })
    return [{ namespace, ...kept, ...(steps.length === 0 ? {} : { steps }) }]
  })
  const length = spaces
    .flatMap((space) => [space, ...(space.steps ?? [])])
    .reduce((sum, { checkpoint }) => sum + checkpoint.length, 0)
  if (length > maxCheckpoint) {
    const problem = `the graph's state is ${sizeText(length)} as a checkpoint; the limit is ${sizeText(maxCheckpoint)}`
    throw new MillraceError('limit', `${problem}. Keep less in it: trim messages, save what is large as artifacts.`)
  }
  const unsaved = unsavedInside(inner, new Set(Object.keys(saver.storage[thread] ?? {})))
  const data = { form, spaces, ...(unsaved.length === 0 ? {} : { unsaved }) }
  return { kind: 'log', level: 'debug', message: checkpointMessage, data }
}

/** A checkpoint as the log has it. */
function inLog({ id, checkpoint, metadata, parent, writes }: DeltaStep) {
  return {
    id,
    checkpoint: base64(checkpoint),
    metadata: base64(metadata),
    parent: parent ?? null,
    writes: Object.entries(writes).map(([slot, [task, channel, value]]) => [slot, task, channel, base64(value)]),
  }
}

/** The channels of what a task asked and was answered before it has ended. */
export const questionChannels: ReadonlySet<string> = new Set(['__interrupt__', '__resume__', '__error__'])

/** A task is named by its path: each part is the name of a node and an id, `writer:1b9d|review:6ec0`. */
export const namespaceOf = (task: unknown): string => String(task).split('|').slice(0, -1).join('|')
export const taskIdOf = (task: unknown): string => String(task).slice(String(task).lastIndexOf(':') + 1)

/** What belongs to no task, such as an answer. */
export const nullTask = '00000000-0000-0000-0000-000000000000'

/** The newest checkpoint before the tasks that are open, and not after the step of those that ended. */
export function newestBefore(
  checkpoints: readonly { readonly id: string; readonly step: number }[],
  open: LogProgress['open'],
  ended: LogProgress['open'],
): string | undefined {
  const sorted = checkpoints.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  if (open.length === 0 && ended.length === 0) return sorted.at(-1)?.id
  const last = ended.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...ended.map(({ step }) => step))
  const first = Math.min(last + 1, ...open.map(({ step }) => step))
  return (sorted.findLast(({ step }) => step < first) ?? sorted.at(-1))?.id
}

/** The ended nodes of inner graphs without checkpoints, inside nodes that run. `spaces` are those with checkpoints. */
export function unsavedInside(
  inner: NonNullable<LogProgress['inner']>,
  spaces: ReadonlySet<string>,
): readonly NodeId[] {
  return inner.filter(({ task }) => !spaces.has(namespaceOf(task))).map(({ node }) => node)
}

/** The step after which a checkpoint was made. */
function stepOf(metadata: Uint8Array | undefined): number {
  const read: unknown = JSON.parse(Buffer.from(metadata ?? []).toString() || '{}')
  return isObject(read) && typeof read.step === 'number' ? read.step : Number.NEGATIVE_INFINITY
}

/** The newest checkpoint, if this server wrote it: one of an import is no way to hand a graph its next steps. */
export function ownCheckpoint({
  history,
  sealed,
}: Pick<RunContext, 'history' | 'sealed'>): { readonly run: string; readonly data: unknown } | undefined {
  if (sealed === undefined) return undefined
  const found = history.findLast(({ seq }) => seq === sealed)
  return found?.event.kind === 'log' && isCheckpoint(found.event)
    ? { run: found.run, data: found.event.data }
    : undefined
}

type Read = (bytes: Uint8Array) => unknown

/** Checks everything, because the row may come from an import. A part that does not fit is ignored. */
function load(saver: Saver, thread: string, data: unknown, read: Read): void {
  const spaces = isObject(data) && data.form === form && Array.isArray(data.spaces) ? (data.spaces as unknown[]) : []
  for (const space of spaces) {
    if (!isObject(space) || !isName(space.namespace)) continue
    const { namespace, steps } = space
    const newest = stepIn(space, read)
    if (newest === undefined) continue
    const before = (Array.isArray(steps) ? (steps as unknown[]) : []).flatMap((step) => stepIn(step, read) ?? [])
    saver.storage[thread] ??= Object.create(null) as Saver['storage'][string]
    const stored: StoredCheckpoints = {}
    for (const { id, checkpoint, metadata, parent, writes } of [...before, newest]) {
      stored[id] = [checkpoint, metadata, parent]
      saver.writes[JSON.stringify([thread, namespace, id])] = writes
    }
    saver.storage[thread][namespace] = stored
  }
}

function stepIn(data: unknown, read: Read): DeltaStep | undefined {
  if (!isObject(data)) return undefined
  const { id, checkpoint, metadata, parent, writes } = data
  if (!isName(id) || id === '') return undefined
  if (typeof checkpoint !== 'string' || typeof metadata !== 'string') return undefined
  if (!isCheckpointData(readable(read, checkpoint)) || !isObject(readable(read, metadata))) return undefined
  const from = isName(parent) && parent !== '' ? parent : undefined
  const listed = Array.isArray(writes) ? (writes as unknown[]) : []
  const kept = listed.flatMap((write) => {
    if (!Array.isArray(write) || write.length !== 4 || !write.every(isName)) return []
    const [slot, task, channel, value] = write as [string, string, string, string]
    return readable(read, value) === unreadable ? [] : [[slot, [task, channel, bytes(value)] as const] as const]
  })
  const own = { checkpoint: bytes(checkpoint), metadata: bytes(metadata) }
  return { id, ...own, parent: from, writes: Object.fromEntries(kept) }
}

/** LangGraph uses these names as keys of plain objects, where some names must not occur. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '__proto__' && value !== 'constructor' && value !== 'prototype'
}

function isCheckpointData(value: unknown): boolean {
  if (!isObject(value) || typeof value.id !== 'string' || typeof value.v !== 'number') return false
  const { channel_values: values, channel_versions: versions, versions_seen: seen } = value
  return isObject(values) && isObject(versions) && isObject(seen) && Object.values(seen).every(isObject)
}

const unreadable = Symbol('unreadable')

function readable(read: Read, text: string): unknown {
  try {
    return read(bytes(text))
  } catch {
    return unreadable
  }
}

function threadOf(key: string): unknown {
  try {
    const parsed: unknown = JSON.parse(key)
    return Array.isArray(parsed) ? parsed[0] : undefined
  } catch {
    return undefined
  }
}

const base64 = (value: Uint8Array): string => Buffer.from(value).toString('base64')
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'))
