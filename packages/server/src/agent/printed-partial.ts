import type { AdkEvent, AgentSaid, NodeId, PartialForm, PrintedEvent } from '@millrace/core'

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
  readonly form: PartialForm | undefined
  readonly own: string | undefined
  #parsed: AgentSaid | undefined

  /** `text` is what `JSON.stringify` makes of an event that was checked (`whyNotRunEvent`). */
  constructor(text: string, message: string, node: NodeId | undefined, form?: PartialForm, own?: string) {
    this.text = text
    this.message = message
    if (node !== undefined) this.node = node
    this.form = form
    this.own = own
  }

  /** One that shares most of its text with others. Joining the parts copies nothing until something reads the text. */
  static formed(form: PartialForm, own: string, message: string, node: NodeId | undefined): PrintedPartial {
    return new PrintedPartial(form.head + own + form.tail, message, node, form, own)
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
