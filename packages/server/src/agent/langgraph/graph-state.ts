import { applyState, isObject, type JsonObject, type NodeId, type PatchOp, type RunEvent } from '@millrace/core'
import { toJson } from './state-json.ts'
import { pointer, valuePatch } from './state-patch.ts'

/**
 * The graph's state in the log: after each step, what its channels hold then, told as the difference to what the log
 * has. The updates that nodes return say who wrote a key, never what it holds: that is up to the graph's reducers.
 */
export class GraphState {
  /** What a reader of the log has now. */
  #recorded: JsonObject
  /** The keys that the graph had after its last step. */
  #keys: ReadonlySet<string>
  /** The last node of this step that wrote a key. */
  readonly #writers = new Map<string, NodeId>()

  constructor(recorded: JsonObject, values: unknown) {
    this.#recorded = recorded
    this.#keys = new Set(isObject(values) ? Object.keys(values) : [])
  }

  /** Every event that is recorded comes by: the graph's own code may record changes, too. */
  saw(event: RunEvent): void {
    this.#recorded = applyState(this.#recorded, event)
  }

  wrote(node: NodeId, output: unknown): void {
    for (const [key] of updatesOf(output)) this.#writers.set(key, node)
  }

  /** A step is over: one event for each node that wrote, and one for what no node did (the run's input). */
  *step(values: unknown): Generator<RunEvent> {
    if (!isObject(values)) return
    const patches = new Map<NodeId | undefined, PatchOp[]>()
    const lost = new Map<NodeId | undefined, string[]>()
    const gone = [...this.#keys].filter((key) => !Object.hasOwn(values, key))
    for (const key of [...Object.keys(values), ...gone]) {
      // No JSON Patch may name it.
      if (key === '__proto__') continue
      const node = this.#writers.get(key)
      let told = true
      const value = toJson(values[key], () => {
        told = false
        if (this.#writers.has(key)) addTo(lost, node, key)
      })
      const before = Object.hasOwn(this.#recorded, key) ? this.#recorded[key] : undefined
      if (told) for (const op of valuePatch(`/${pointer(key)}`, before, value)) addTo(patches, node, op)
    }
    this.#keys = new Set(Object.keys(values))
    this.#writers.clear()
    for (const [node, keys] of lost) if (node !== undefined) yield notJson(node, keys)
    for (const [node, patch] of patches) yield { kind: 'state', patch, ...(node === undefined ? {} : { node }) }
  }
}

/** The keys and updates in what a node returned: an object, a Command, or a list of these. */
export function updatesOf(output: unknown): readonly (readonly [string, unknown])[] {
  if (Array.isArray(output)) return output.flatMap(updatesOf)
  if (!isObject(output)) return []
  if (output.lg_name === 'Send') return []
  if (output.lg_name !== 'Command') return Object.entries(output)
  const { update } = output
  if (!Array.isArray(update)) return isObject(update) ? Object.entries(update) : []
  return update.filter((pair) => Array.isArray(pair) && typeof pair[0] === 'string')
}

function notJson(node: NodeId, keys: readonly string[]): RunEvent {
  const name = node.slice(0, node.lastIndexOf('@'))
  const message = `'${name}' returned what is not JSON in ${keys.join(', ')}: it stays in the graph, and is not in the log`
  return { kind: 'log', level: 'warn', message, node }
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
