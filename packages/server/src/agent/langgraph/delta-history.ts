import { isObject } from '@millrace/core'

/** What LangGraph's MemorySaver stores of one namespace: by the checkpoint's id, the checkpoint, its metadata, its parent. */
export type StoredCheckpoints = Record<string, readonly [Uint8Array, Uint8Array, string | undefined]>

/** The pending writes of one checkpoint: by slot, the task, the channel and the value. */
export type Writes = Record<string, readonly [task: string, channel: string, value: Uint8Array]>

/** A checkpoint before the newest one, with only what the value of a delta channel is made of. */
export interface DeltaStep {
  readonly id: string
  readonly checkpoint: Uint8Array
  readonly metadata: Uint8Array
  readonly parent: string | undefined
  readonly writes: Writes
}

/**
 * A delta channel (`DeltaValue`, `MessagesDeltaValue`) has its value in few checkpoints. In all others LangGraph makes it
 * of the writes since the last that has it, so the newest checkpoint alone would have lost the value.
 */
export function deltaSteps(
  checkpoints: StoredCheckpoints,
  newest: string,
  writesOf: (checkpoint: string) => Writes,
): readonly DeltaStep[] {
  const missing = new Set(deltaChannels(checkpoints[newest]?.[1]))
  const steps: DeltaStep[] = []
  let id = checkpoints[newest]?.[2]
  while (id !== undefined && missing.size > 0) {
    const stored = checkpoints[id]
    if (stored === undefined) break
    const [checkpoint, metadata, parent] = stored
    const whole: unknown = jsonOf(checkpoint)
    const values = isObject(whole) && isObject(whole.channel_values) ? whole.channel_values : {}
    const kept = Object.entries(values).filter(([channel]) => missing.has(channel))
    const writes = Object.entries(writesOf(id)).filter(([, [, channel]]) => missing.has(channel))
    const small = { ...(whole as object), channel_values: Object.fromEntries(kept), ...unversioned }
    steps.push({ id, checkpoint: bytesOf(small), metadata, parent, writes: Object.fromEntries(writes) })
    for (const [channel] of kept) missing.delete(channel)
    id = parent
  }
  return steps
}

/** LangGraph plans its next steps by the newest checkpoint alone. */
const unversioned = { channel_versions: {}, versions_seen: {} }

/** The channels whose value is not in this checkpoint: LangGraph counts the steps since it was. */
function deltaChannels(metadata: Uint8Array | undefined): readonly string[] {
  const read = jsonOf(metadata ?? new Uint8Array())
  const counted = isObject(read) ? read.counters_since_delta_snapshot : undefined
  return isObject(counted) ? Object.keys(counted) : []
}

function jsonOf(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString() || '{}')
}

const bytesOf = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
