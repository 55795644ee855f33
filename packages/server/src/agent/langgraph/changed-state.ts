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
import { isCheckpoint, ownCheckpoint } from './checkpoint.ts'
import { pastMessages } from './checkpoint-rebuild.ts'
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
 */
export async function changedState(
  graph: CompiledGraph,
  config: object,
  input: RunInput,
  context: RunContext,
  before: Snapshot,
): Promise<ChangedState> {
  const changed = openChange(context)
  if (changed === undefined) return unchanged
  const values =
    changed.field === 'tool' ? await changedResult(changed, before) : await changedKeys(graph, context, changed)
  // Only keys that the graph does not have: LangGraph takes no write of nothing.
  if (Object.keys(values).length === 0) return unchanged
  // The answer of the run is still to be given: the change comes with it, because a checkpoint of its own has no questions.
  if (ownCheckpoint(context)?.run !== context.run || openAnswers(input, before).length > 0)
    return { values, applied: false }
  if (await changedInside(graph, config, before, values)) return { values: {}, applied: true }
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

/**
 * Writes the change into the inner graphs that have begun and not ended. They give it to the graph around them as they end;
 * to change that one would begin them anew, with steps that had ended. False where one has not all of the keys.
 */
async function changedInside(
  graph: CompiledGraph,
  config: object,
  before: Snapshot,
  values: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const { updateState } = graph
  const begun = begunInside(before)
  if (begun.length === 0 || updateState === undefined) return false
  const configurable: unknown = Reflect.get(config, 'configurable')
  try {
    for (const { config: place } of begun)
      await updateState.call(
        graph,
        { ...config, configurable: { ...(isObject(configurable) ? configurable : {}), ...place?.configurable } },
        values,
      )
  } catch (error) {
    if (!isAmbiguous(error)) throw error
    return false
  }
  // A graph takes no notice of keys that it does not have. What was written then belongs to no step that will run.
  const written = begunInside(await graph.getState(config, { subgraphs: true }))
  return written.every(
    ({ values: own }) => isObject(own) && Object.keys(values).every((key) => Object.hasOwn(own, key)),
  )
}

/** The innermost ones. */
function begunInside({ tasks = [] }: Snapshot): readonly Snapshot[] {
  return tasks.flatMap(({ state }) => {
    const inner: Snapshot = isObject(state) ? state : {}
    if (inner.config?.configurable?.checkpoint_id === undefined) return []
    const deeper = begunInside(inner)
    return deeper.length > 0 ? deeper : [inner]
  })
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

/** The message that has the result, with the new one. A reducer of messages replaces by id. */
async function changedResult(
  { call, after }: Changed,
  { values }: Snapshot,
): Promise<Readonly<Record<string, unknown>>> {
  const messages = isObject(values) && Array.isArray(values.messages) ? (values.messages as unknown[]) : []
  const found = messages.find((message) => isObject(message) && message.tool_call_id === call)
  if (!isObject(found))
    throw new MillraceError(
      'agent-error',
      'the graph keeps the result of this tool in no message, so it cannot be changed; change the state after the step instead',
    )
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
