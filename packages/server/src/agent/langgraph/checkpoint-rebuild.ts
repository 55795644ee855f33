import { isObject, type Json, type RunEvent } from '@millrace/core'
import type { RunContext } from '../agent.ts'
import { isCheckpoint, ownCheckpoint } from './checkpoint.ts'
import { channelsOf, controlIn, replacing } from './graph-input.ts'
import type { CompiledGraph } from './langgraph-agent.ts'
import { messageName } from './message-fields.ts'

/** Recorded when a session has a checkpoint that this server did not write for its user. */
const notOurs = {
  kind: 'log',
  level: 'warn',
  message:
    'this server did not write the checkpoint of this session for its user, so the graph continues from the recorded state and messages',
} as const

/** What a graph begins with in a session whose checkpoint is not ours. */
interface RebuiltState {
  readonly values: Readonly<Record<string, unknown>>
  readonly notes: readonly RunEvent[]
}

/**
 * The state of an imported session, out of its events: the values of the graph's channels and the messages. They are
 * data, such as a client may send. Which steps were open is in a checkpoint alone, and is not rebuilt.
 */
export async function rebuiltState(graph: CompiledGraph, context: RunContext): Promise<RebuiltState> {
  const { history, state } = context
  if (ownCheckpoint(context) !== undefined || !history.some(({ event }) => isCheckpoint(event)))
    return { values: {}, notes: [] }
  const known = [...channelsOf(graph)].filter(
    ([key]) => key !== 'messages' && Object.hasOwn(state, key) && controlIn(state[key]) === undefined,
  )
  const values = await replacing(known.map(([key, channel]) => [key, channel, state[key] as Json]))
  return { values: { ...values, messages: await pastMessages(state.messages) }, notes: [notOurs] }
}

/** The messages of the state, made of the fields that their classes have. */
export async function pastMessages(kept: unknown): Promise<readonly unknown[]> {
  if (!Array.isArray(kept)) return []
  const { restoredMessage } = await import('./message-table.ts')
  return kept.flatMap((data: unknown) => {
    const name = isObject(data) ? messageName(data.type) : undefined
    return name === undefined || name === 'RemoveMessage' ? [] : (restoredMessage(name, data) ?? [])
  })
}
