import type { Interrupted, RunEvent, RunFinished } from '../../../event/run-event.ts'
import { isJsonObject, type JsonObject, parseJson } from '../../../json/json.ts'
import { type CallIds, callIds } from '../../bare-text/call-ids.ts'
import { type MessageAuthor, type MessageBuilder, messageBuilder } from '../../bare-text/message-builder.ts'
import { ChunkText } from '../chunks.ts'
import { StudioInterrupts } from '../interrupts.ts'
import { type OpenNode, OpenNodes } from '../nodes.ts'

/** What a frame means, or why it could not be read. */
export type StudioFrameResult = readonly RunEvent[] | string

export type Ended = Omit<RunFinished, 'kind'> & Pick<RunEvent, 'extra'>

/** What the decoder knows about the current run. */
export class StudioRun {
  readonly id: string
  phase: 'new' | 'open' | 'finished' = 'new'
  /** It has ended because it waits for a person. */
  waits = false
  /** Whether the run has events after its start. */
  busy = false
  readonly nodes: OpenNodes = new OpenNodes()
  readonly calls: CallIds
  readonly speech: MessageBuilder
  readonly chunks: ChunkText
  readonly interrupts: StudioInterrupts
  /** The author of text while no node is open. */
  author: string
  state: JsonObject
  failure: string | undefined
  /** The content of `trace done`; the run itself ends with `end`. */
  done: Partial<Ended> | undefined

  constructor(id: string, author: string, before?: StudioRun) {
    this.id = id
    this.author = author
    this.calls = callIds(id)
    this.speech = messageBuilder(id)
    this.chunks = before?.chunks ?? new ChunkText()
    this.chunks.reset()
    this.state = before?.state ?? {}
    this.interrupts = before?.interrupts ?? new StudioInterrupts()
  }

  /** The open node of that name, or the current speaker. */
  speaker(name?: string): MessageAuthor {
    const node = name === undefined ? this.nodes.speaker : this.nodes.named(name)
    if (node === undefined) return { author: name ?? this.author }
    if (this.#last?.node !== node) this.#last = { node, author: { author: node.name, node: node.id } }
    return this.#last.author
  }
  /** The node that spoke last, because each token asks for its author. */
  #last: { readonly node: OpenNode; readonly author: MessageAuthor } | undefined

  /** The node that a frame names in `node_id`, or the current speaker. */
  speakerOf({ node_id: id }: JsonObject): MessageAuthor {
    const node = typeof id === 'string' ? this.nodes.get(id) : undefined
    return node === undefined ? this.speaker() : { author: node.name, node: node.id }
  }

  interrupted(name: string, fields: Partial<Omit<Interrupted, 'kind'>>): Interrupted {
    const node = this.nodes.named(name)?.id
    const event: Interrupted = {
      kind: 'interrupt',
      id: this.interrupts.impliedId(this.id),
      reason: 'input_required',
      ...fields,
      ...(node === undefined ? {} : { node }),
    }
    this.interrupts.ask(event.id, name, this.id)
    return event
  }
}

/** The JSON object in a frame, or why there is none. */
export function readObject(data: string): JsonObject | string {
  const parsed = parseJson(data)
  if ('reason' in parsed) return parsed.reason
  return isJsonObject(parsed.value) ? parsed.value : 'not a JSON object'
}
