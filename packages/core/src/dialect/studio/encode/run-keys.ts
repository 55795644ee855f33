import type { AdkContent } from '../../../event/adk-event.ts'
import { partsOf, textOf } from '../../../event/parts.ts'
import type { InputMessage, NodeId, RunInput } from '../../../event/run-event.ts'
import { isObject, type JsonObject } from '../../../json/json.ts'

const nothing: JsonObject = {}

/**
 * The schema's snapshots show what the run was asked as `query`, and what was answered as `response`. Neither is state
 * here, so they are added to the snapshots of a run that was asked something, and named in `run_keys`.
 */
export class RunKeys {
  /** What every snapshot of the run shows. */
  before: JsonObject = nothing
  readonly #answers = new Map<NodeId | undefined, string>()

  ask(input: RunInput | undefined): void {
    // A log may be restored from an unchecked file.
    const messages: readonly unknown[] = Array.isArray(input?.messages) ? input.messages : []
    const asked = messages.findLast((message): message is InputMessage => isObject(message) && message.role === 'user')
    const query = textIn(asked?.content)
    if (query !== '') this.before = { query }
  }

  answer(content: AdkContent | undefined, node: NodeId | undefined): void {
    if (this.before === nothing) return
    const text = textIn(content)
    if (text === '') return
    this.#answers.set(undefined, text)
    if (node !== undefined) this.#answers.set(node, text)
  }

  /** What the snapshot after a node shows besides, or without a node, the one after the run. */
  after(node?: NodeId): JsonObject {
    const response = this.#answers.get(node)
    return response === undefined ? nothing : { response }
  }
}

function textIn(content: AdkContent | undefined): string {
  return partsOf(content)
    .map((part) => (part.thought === true ? '' : textOf(part)))
    .join('')
}
