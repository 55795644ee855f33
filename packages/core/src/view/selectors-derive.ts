import type { AdkEvent } from '../event/adk-event.ts'
import { isErrorEvent, isFinalResponse } from '../event/adk-rules.ts'
import { adkIngest } from '../event/ingest.ts'
import { isObject } from '../event/json.ts'
import { partsOf, responseOf, textOf, transferOf } from '../event/parts.ts'
import { isoTime } from './iso-time.ts'
import type { AgentTransition, ChatSession, DerivedMessage } from './selectors.ts'

/** A message as far as its events have come. */
interface Grown {
  readonly id: string
  readonly first: AdkEvent
  readonly sources: string[]
  /** What whole events said, and what partials have added since. */
  text: string
  thoughts: string
  streamedText: string
  streamedThoughts: string
  made: DerivedMessage | undefined
}

/** What was answered, until an event changes it. */
interface Answers {
  messages?: DerivedMessage[]
  thoughts?: Record<string, string>
  transitions?: AgentTransition[]
  status?: Record<string, 'active' | 'idle'>
  updates?: DerivedMessage[]
}

/** What has been derived from a list of events. Only new events are read when the list grows. */
export class Derivation {
  readonly #session: string
  readonly #ingest = adkIngest()
  readonly #messages = new Map<string, Grown>()
  readonly #whole = new Set<string>()
  readonly #transitions: AgentTransition[] = []
  readonly #updates: DerivedMessage[] = []
  readonly #status = new Map<string, 'active' | 'idle'>()
  #events: readonly AdkEvent[] = []
  #count = 0
  #answers: Answers = {}

  constructor(session: string) {
    this.#session = session
  }

  /** True when the list is the one that was read, perhaps with more at its end. */
  covers({ id, rawEvents }: ChatSession): boolean {
    if (id !== this.#session || rawEvents.length < this.#count) return false
    if (rawEvents === this.#events) return true
    for (let i = 0; i < this.#count; i++) if (rawEvents[i] !== this.#events[i]) return false
    return true
  }

  read(events: readonly AdkEvent[]): this {
    if (events.length > this.#count) this.#answers = {}
    for (let i = this.#count; i < events.length; i++) this.#take(events[i])
    this.#events = events
    this.#count = events.length
    return this
  }

  messages(): DerivedMessage[] {
    this.#answers.messages ??= [...this.#messages.values()].flatMap((each) => this.#message(each) ?? [])
    return this.#answers.messages
  }
  thoughts(): Record<string, string> {
    this.#answers.thoughts ??= Object.fromEntries(
      [...this.#messages.values()].flatMap(({ id, thoughts, streamedThoughts }) => {
        const all = lines(thoughts, streamedThoughts)
        return all === '' ? [] : [[id, all]]
      }),
    )
    return this.#answers.thoughts
  }
  transitions(): AgentTransition[] {
    this.#answers.transitions ??= [...this.#transitions]
    return this.#answers.transitions
  }
  status(): Record<string, 'active' | 'idle'> {
    this.#answers.status ??= Object.fromEntries(this.#status)
    return this.#answers.status
  }
  updates(): DerivedMessage[] {
    this.#answers.updates ??= [...this.#updates]
    return this.#answers.updates
  }

  #take(raw: unknown): void {
    const read = this.#ingest(raw)
    if ('reason' in read) return
    const { event, message } = read
    if (event.partial === true) this.#stream(event, message)
    else if (!this.#whole.has(event.id)) this.#complete(event, message)
    if (event.author !== 'user') this.#status.set(event.author, statusAfter(event))
  }

  #stream(event: AdkEvent, message: string): void {
    for (const part of partsOf(event.content)) {
      const text = textOf(part)
      if (text === '') continue
      const grown = this.#grown(event, message)
      if (part.thought === true) grown.streamedThoughts += text
      else grown.streamedText += text
    }
  }

  #complete(event: AdkEvent, message: string): void {
    this.#whole.add(event.id)
    const parts = partsOf(event.content)
    const said = parts.filter((part) => textOf(part) !== '')
    if (said.length > 0) {
      const grown = this.#grown(event, message)
      grown.text += said.map((part) => (part.thought === true ? '' : textOf(part))).join('')
      grown.thoughts = said.reduce(
        (all, part) => (part.thought === true ? lines(all, textOf(part)) : all),
        grown.thoughts,
      )
      grown.streamedText = ''
      grown.streamedThoughts = ''
    }
    for (const part of parts) this.#answered(event, part)
    this.#handedOver(event)
  }

  #grown(event: AdkEvent, id: string): Grown {
    const known = this.#messages.get(id)
    const grown = known ?? {
      id,
      first: event,
      sources: [],
      text: '',
      thoughts: '',
      streamedText: '',
      streamedThoughts: '',
      made: undefined,
    }
    if (known === undefined) this.#messages.set(id, grown)
    if (grown.sources.at(-1) !== event.id) grown.sources.push(event.id)
    grown.made = undefined
    return grown
  }

  #message(grown: Grown): DerivedMessage | undefined {
    const { id, first, sources, text, streamedText } = grown
    const content = text + streamedText
    if (content === '') return undefined
    grown.made ??= { ...this.#from(first, `msg_${id}`, content, 'text'), sourceEventIds: [...sources] }
    return grown.made
  }

  #answered(event: AdkEvent, part: Parameters<typeof responseOf>[0]): void {
    const response = responseOf(part)
    if (response === undefined) return
    const { name, id, response: said } = response
    const message = this.#from(event, `fn_${id ?? `${event.id}_${this.#updates.length}`}`, name, 'functionResponse')
    const metadata = {
      ...message.metadata,
      functionName: name,
      ...(id === undefined ? {} : { functionCallId: id }),
      ...(said === undefined ? {} : { response: said }),
    }
    this.#updates.push({ ...message, metadata })
  }

  #handedOver(event: AdkEvent): void {
    const to = transferOf(event)
    if (to === undefined) return
    const { id, author, timestamp } = event
    this.#transitions.push({ fromAgent: author, toAgent: to, eventId: id, timestamp: isoTime(timestamp) })
    this.#updates.push(this.#from(event, `transfer_${id}`, `${author} → ${to}`, 'agentStatus'))
  }

  #from(event: AdkEvent, id: string, content: string, derivedFrom: DerivedMessage['derivedFrom']): DerivedMessage {
    const { author, invocationId, timestamp } = event
    return {
      id,
      content,
      role: author === 'user' ? 'user' : 'assistant',
      timestamp: isoTime(timestamp),
      sessionId: this.#session,
      sourceEventIds: [event.id],
      derivedFrom,
      metadata: { author, invocationId },
    }
  }
}

/** Selectors are called with every event: what was derived is kept with the first event of the list, and read on. */
const derivations = new WeakMap<object, Derivation>()

export function derivationOf(session: ChatSession): Derivation {
  const { id, rawEvents } = session
  const first: unknown = rawEvents[0]
  const known = isObject(first) ? derivations.get(first) : undefined
  if (known?.covers(session) === true) return known.read(rawEvents)
  const made = new Derivation(id).read(rawEvents)
  if (isObject(first)) derivations.set(first, made)
  return made
}

function statusAfter(event: AdkEvent): 'active' | 'idle' {
  return isFinalResponse(event) || isErrorEvent(event) || transferOf(event) !== undefined ? 'idle' : 'active'
}

function lines(before: string, text: string): string {
  return before === '' || text === '' ? before + text : `${before}\n${text}`
}
