import type { AdkEvent, AgentSaid, NodeId, PrintedEvent } from '@millrace/core'

/**
 * A partial with the text that the log stores. Most events of a run are partials, and on their way to the log
 * only the id of the message and the node are needed: what the text says is parsed when something asks for it.
 */
export class PrintedPartial implements AgentSaid, PrintedEvent {
  readonly kind = 'agent'
  readonly row = 'partial'
  readonly text: string
  readonly message: string
  readonly node?: NodeId
  #parsed: AgentSaid | undefined

  /** `text` is what `JSON.stringify` makes of an event that was checked (`whyNotRunEvent`); `parsed` is that event. */
  constructor(text: string, message: string, node: NodeId | undefined, parsed?: AgentSaid) {
    this.text = text
    this.message = message
    if (node !== undefined) this.node = node
    this.#parsed = parsed
  }

  get event(): AdkEvent {
    return this.toJSON().event
  }

  toJSON(): AgentSaid {
    const parsed: AgentSaid = this.#parsed ?? JSON.parse(this.text)
    this.#parsed = parsed
    return parsed
  }
}
