import { applyState, isObject, type JsonObject, type NodeId, type PatchOp, type RunEvent } from '@millrace/core'
import { toJson } from './state-json.ts'
import { pointerToken, valuePatch } from './state-patch.ts'

/**
 * Records the graph's state: after each step, the difference between its channel values and the state in the log. The
 * updates that nodes return only show which node wrote a key. Its value comes from the graph's reducers.
 */
export class GraphState {
  /** The state that the log has now. */
  #recorded: JsonObject
  /** The keys that the graph had after its last step. */
  #keys: ReadonlySet<string>
  readonly #untracked: ReadonlySet<string>
  /** The last node of this step that wrote a key. */
  readonly #writers = new Map<string, NodeId>()

  /** `untracked` are the channels that no checkpoint has: a run begins without the values of the one before. */
  constructor(recorded: JsonObject, values: unknown, untracked: ReadonlySet<string> = new Set()) {
    this.#recorded = recorded
    this.#untracked = untracked
    this.#keys = new Set([...Object.keys(stateIn(values) ?? {}), ...untracked])
  }

  /** Must get every recorded event: the graph's own code may record state changes too. */
  saw(event: RunEvent): void {
    this.#recorded = applyState(this.#recorded, event)
  }

  wrote(node: NodeId, output: unknown): void {
    for (const [key] of updatesOf(output)) this.#writers.set(key, node)
  }

  /** The values of the last checkpoint. They are all that the graph has, but for its untracked channels. */
  *checkpoint(given: unknown): Generator<RunEvent> {
    const values = stateIn(given)
    if (values === undefined) return
    const untracked = Object.entries(this.#recorded).filter(([key]) => this.#untracked.has(key) && this.#keys.has(key))
    yield* this.step({ ...Object.fromEntries(untracked), ...values })
  }

  /** After a step: one event for each node that wrote, and one for changes by no node (the run's input). */
  *step(given: unknown): Generator<RunEvent> {
    const values = stateIn(given)
    if (values === undefined) return
    const patches = new Map<NodeId | undefined, PatchOp[]>()
    const lost = new Map<NodeId | undefined, string[]>()
    const gone = [...this.#keys].filter((key) => !Object.hasOwn(values, key))
    for (const key of [...Object.keys(values), ...gone]) {
      // A JSON Patch must not contain this key.
      if (key === '__proto__') continue
      const node = this.#writers.get(key)
      let isJson = true
      const value = toJson(values[key], () => {
        isJson = false
        if (this.#writers.has(key)) addTo(lost, node, key)
      })
      const before = Object.hasOwn(this.#recorded, key) ? this.#recorded[key] : undefined
      if (isJson) for (const op of valuePatch(`/${pointerToken(key)}`, before, value)) addTo(patches, node, op)
    }
    this.#keys = new Set(Object.keys(values))
    this.#writers.clear()
    for (const [node, keys] of lost) if (node !== undefined) yield notJson(node, keys)
    for (const [node, patch] of patches) yield { kind: 'state', patch, ...(node === undefined ? {} : { node }) }
  }
}

/** The state of a graph is an object; a workflow of the functional API may return anything, in LangGraph's channel `__end__`. */
function stateIn(values: unknown): Readonly<Record<string, unknown>> | undefined {
  if (values === undefined || values === null) return undefined
  return isObject(values) ? values : { __end__: values }
}

/** The keys and updates in what a node returned: an object, a Command, or a list of these. */
export function updatesOf(output: unknown): readonly (readonly [string, unknown])[] {
  if (Array.isArray(output)) return output.flatMap(updatesOf)
  if (!isObject(output)) return []
  // `entrypoint.final` returns one value and saves another.
  if (output.__lg_type === '__pregel_final') return updatesOf(output.value)
  if (output.lg_name === 'Send') return []
  if (output.lg_name !== 'Command') return Object.entries(output)
  const { update } = output
  if (!Array.isArray(update)) return isObject(update) ? Object.entries(update) : []
  return update.filter((pair) => Array.isArray(pair) && typeof pair[0] === 'string')
}

function notJson(node: NodeId, keys: readonly string[]): RunEvent {
  const name = node.slice(0, node.lastIndexOf('@'))
  const message = `'${name}' returned a value that is not JSON in ${keys.join(', ')}: it stays in the graph and is left out of the log`
  return { kind: 'log', level: 'warn', message, node }
}

function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
