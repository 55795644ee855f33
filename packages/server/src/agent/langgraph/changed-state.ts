import {
  type Changed,
  isObject,
  type Json,
  type JsonObject,
  MillraceError,
  nodePath,
  type Recorded,
  type RunInput,
} from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { messageParts } from '../langchain-message.ts'
import { isCheckpoint, ownCheckpoint, type SeededSaver } from './checkpoint.ts'
import { pastMessages } from './checkpoint-rebuild.ts'
import { hasBegunInside, writeIn } from './checkpoint-write.ts'
import { channelsOf, controlIn, openAnswers, replacing } from './graph-input.ts'
import type { CompiledGraph, Snapshot } from './langgraph-agent.ts'

/** What a person changed in the state of a graph that goes on from a checkpoint. */
export interface ChangedState {
  /** For a graph that begins at its start, or goes on with an answer: what its input has besides. */
  readonly values: Readonly<Record<string, unknown>>
  /** For a graph that goes on with other tasks as they are: its input. */
  readonly input?: unknown
  /** The change is in a checkpoint of its own, from which the graph goes on. */
  readonly applied: boolean
}

const unchanged: ChangedState = { values: {}, applied: false }

/**
 * Writes the change into the graph as LangGraph's own users do, with `updateState`: as the node that ran last, whose edges
 * are then taken anew. Where several tasks are next, that could lose some of them: then the write comes with the input.
 * Where a graph inside has begun, both would begin it anew, with steps that had ended: then each graph that has the key gets
 * the write into its checkpoint, and the innermost one gets it with `updateState`.
 */
export async function changedState(
  graph: CompiledGraph,
  config: object,
  input: RunInput,
  context: RunContext,
  before: Snapshot,
  saver: SeededSaver | undefined,
): Promise<ChangedState> {
  const changed = openChange(context)
  if (changed === undefined) return unchanged
  const valuesOf = (of: CompiledGraph, at: Snapshot) =>
    changed.field === 'tool' ? changedResult(changed, at) : changedKeys(of, context, changed)
  const values = await valuesOf(graph, before)
  if (changed.field === 'tool' && Object.keys(values).length === 0)
    throw new MillraceError(
      'agent-error',
      'the graph keeps the result of this tool in no message, so it cannot be changed; change the state after the step instead',
    )
  // The answer of the run is still to be given: the change comes with it, because a checkpoint of its own has no questions.
  if (ownCheckpoint(context)?.run !== context.run || openAnswers(input, before).length > 0)
    return { values, applied: false }
  if (saver !== undefined && hasBegunInside(saver, context.session, before)) {
    const replaces = changed.field === 'state'
    await writeIn(saver, before, values, replaces)
    for (const inner of begunInside(graph, before)) {
      const own = await valuesOf(inner.graph, inner.at)
      if (!(await changedInnermost(graph, config, inner, own))) await writeIn(saver, inner.at, own, replaces)
    }
    return { values: {}, applied: true }
  }
  // Only keys that the graph does not have: LangGraph takes no write of nothing.
  if (Object.keys(values).length === 0) return unchanged
  const isLast = (before.tasks ?? []).length <= 1 && (await knowsLast(graph, config, context))
  if (isLast && graph.updateState !== undefined) {
    try {
      await graph.updateState(config, values)
      return { values: {}, applied: true }
    } catch (error) {
      if (!isAmbiguous(error)) throw error
    }
  }
  const { Command } = await import('@langchain/langgraph')
  return { values: {}, input: new Command({ update: values }), applied: false }
}

/** A graph inside another one that has begun and not ended. */
interface Inner {
  readonly graph: CompiledGraph
  readonly at: Snapshot
  readonly isInnermost: boolean
}

/** The outer ones first. */
function begunInside(graph: CompiledGraph, { tasks = [] }: Snapshot): readonly Inner[] {
  const known = [...(graph.getSubgraphs?.() ?? [])]
  return tasks.flatMap(({ name, state }) => {
    const at: Snapshot = isObject(state) ? state : {}
    const inner = known.find(([each]) => each === name)?.[1]
    if (inner === undefined || at.config?.configurable?.checkpoint_id === undefined) return []
    const deeper = begunInside(inner, at)
    return [{ graph: inner, at, isInnermost: deeper.length === 0 }, ...deeper]
  })
}

/** Nothing inside this one would begin anew, so its edges are taken anew with the change. False where it must be written in. */
async function changedInnermost(
  graph: CompiledGraph,
  config: object,
  { at, isInnermost }: Inner,
  values: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  if (Object.keys(values).length === 0) return true
  if (!isInnermost || graph.updateState === undefined || (at.tasks ?? []).length > 1) return false
  const configurable: unknown = Reflect.get(config, 'configurable')
  const place = { ...(isObject(configurable) ? configurable : {}), ...at.config?.configurable }
  try {
    await graph.updateState({ ...config, configurable: place }, values)
    return true
  } catch (error) {
    if (!isAmbiguous(error)) throw error
    return false
  }
}

/** The change that the run goes on with, unless a later checkpoint has it. */
function openChange({ history, run, resumed }: RunContext): Changed | undefined {
  const at = resumed ? history.findLastIndex((row) => row.run === run && isOfState(row)) : -1
  const event = history[at]?.event
  if (event?.kind !== 'changed') return undefined
  return history.slice(at).some((row) => row.run === run && isCheckpoint(row.event)) ? undefined : event
}

function isOfState({ event }: Recorded): boolean {
  return event.kind === 'changed' && (event.field === 'state' || event.field === 'tool')
}

/**
 * Whether LangGraph takes the node that ran last for the one that wrote the change. It goes by the channels that each node
 * has seen, and a node that was started by `Send` has seen none: then it takes the node before, and all that this one had
 * sent would run again.
 */
async function knowsLast(graph: CompiledGraph, config: object, { history, run }: RunContext): Promise<boolean> {
  const ended = history.findLast(
    (row) => row.run === run && row.event.kind === 'node.finished' && !nodePath(row.event.node).includes('/'),
  )?.event
  const { checkpointer, nodes } = graph
  if (ended?.kind !== 'node.finished' || !isObject(checkpointer) || typeof checkpointer.getTuple !== 'function')
    return true
  const tuple: unknown = await checkpointer.getTuple(config)
  const versions = isObject(tuple) && isObject(tuple.checkpoint) ? tuple.checkpoint.channel_versions : undefined
  const node: unknown = isObject(nodes) ? nodes[nodePath(ended.node)] : undefined
  const triggers = isObject(node) && Array.isArray(node.triggers) ? (node.triggers as readonly unknown[]) : []
  if (!isObject(versions) || triggers.length === 0) return true
  return triggers.some((channel) => Object.hasOwn(versions, String(channel)))
}

/** LangGraph's own error, by name: a graph may bring its own copy of the library. */
function isAmbiguous(error: unknown): boolean {
  return error instanceof Error && error.name === 'InvalidUpdateError'
}

/** The message that has the result, with the new one, if there is such a message. A reducer of messages replaces by id. */
async function changedResult(
  { call, after }: Changed,
  { values }: Snapshot,
): Promise<Readonly<Record<string, unknown>>> {
  const messages = isObject(values) && Array.isArray(values.messages) ? (values.messages as unknown[]) : []
  const found = messages.find((message) => isObject(message) && message.tool_call_id === call)
  if (!isObject(found)) return {}
  const { restoredMessage } = await import('./message-table.ts')
  const { id, name, tool_call_id } = found
  const content = JSON.stringify(after)
  const made = restoredMessage('ToolMessage', {
    id: id ?? messageParts(found).id,
    name,
    tool_call_id,
    content,
    status: 'success',
  })
  return { messages: [made] }
}

/** The values of the keys that the patch names. They replace those of the graph: a reducer is passed by. */
async function changedKeys(
  graph: CompiledGraph,
  { state }: RunContext,
  { after }: Changed,
): Promise<Readonly<Record<string, unknown>>> {
  const known = channelsOf(graph)
  const keys = [...new Set(keysOf(after))].filter((key) => known.has(key))
  const found = controlIn(keys.map((key) => state[key]))
  if (found !== undefined)
    throw new MillraceError('invalid', `the key ${found} means a step of the graph and cannot be sent; rename it`)
  const plain = keys.map((key) => [key, known.get(key), keptValue(state, key)] as const)
  const messages = keys.includes('messages') ? await pastMessages(state.messages) : []
  return replacing(
    plain.map(([key, channel, value]) => [key, channel, key === 'messages' ? (messages as unknown as Json) : value]),
  )
}

function keptValue(state: JsonObject, key: string): Json {
  return Object.hasOwn(state, key) ? (state[key] as Json) : null
}

function keysOf(patch: Json): readonly string[] {
  const paths = (Array.isArray(patch) ? patch : []).flatMap((op) =>
    isObject(op) ? [op.path, op.op === 'move' ? op.from : ''] : [],
  )
  return paths.map((path) => (String(path).split('/')[1] ?? '').replaceAll('~1', '/').replaceAll('~0', '~'))
}
