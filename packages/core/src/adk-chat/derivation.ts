import type { AdkEvent } from '../event/adk-event.ts'
import { isErrorEvent, isFinalResponse, transferOf } from '../event/adk-rules.ts'
import { adkIngest } from '../event/ingest.ts'
import { partsOf, responseOf, textOf } from '../event/parts.ts'
import { isAggregate, isPartial, spokenText } from '../event/streaming.ts'
import { isObject } from '../json/json.ts'
import { isoTime } from './iso-time.ts'
import type { AgentTransition, ChatSession, DerivedMessage, RawAdkEvent, SessionEvents } from './selectors.ts'

/** A message as far as its events have arrived. */
interface Grown {
  readonly id: string
  /** Its index among all messages. */
  readonly place: number
  readonly first: AdkEvent
  readonly sources: string[]
  /** The text of whole events, and the text that partials have added since. */
  text: string
  thoughts: string
  streamedText: string
  streamedThoughts: string
  made: DerivedMessage | undefined
  /** Its index among the messages that are shown; -1 while it has no text. */
  shown: number
}

/** The last answer of each selector, until an event changes it. */
interface Answers {
  thoughts?: Record<string, string> | undefined
  transitions?: AgentTransition[] | undefined
  status?: Record<string, 'active' | 'idle'> | undefined
  updates?: DerivedMessage[] | undefined
}

/**
 * Derives messages, thoughts, transitions and status from ADK events, one at a time. The cost of an event does not depend
 * on how many came before: only its own message is made again, and an answer that it does not change stays the same
 * object.
 */
export class Derivation {
  readonly #session: string
  readonly #ingest = adkIngest()
  readonly #messages = new Map<string, Grown>()
  readonly #grown: Grown[] = []
  readonly #changed = new Set<Grown>()
  readonly #whole = new Set<string>()
  readonly #transitions: AgentTransition[] = []
  readonly #updates: DerivedMessage[] = []
  readonly #status = new Map<string, 'active' | 'idle'>()
  #events: readonly RawAdkEvent[] = []
  #count = 0
  #shown: DerivedMessage[] = []
  /** The place of the last message that is shown: a later message is appended. */
  #last = -1
  #answers: Answers = {}

  constructor(session: string) {
    this.#session = session
  }

  /** How many events it has taken. */
  get count(): number {
    return this.#count
  }

  /** Whether the session's events are those that were read before, perhaps with more at the end. */
  covers({ id, rawEvents }: SessionEvents): boolean {
    if (id !== this.#session || rawEvents.length < this.#count) return false
    if (rawEvents === this.#events) return true
    for (let i = 0; i < this.#count; i++) if (rawEvents[i] !== this.#events[i]) return false
    return true
  }

  read(events: readonly RawAdkEvent[]): this {
    for (let i = this.#count; i < events.length; i++) this.take(events[i])
    this.#events = events
    return this
  }

  /** Takes one more event as it came off the wire. A value that is no ADK event is ignored. */
  take(raw: unknown): void {
    this.#count += 1
    const read = this.#ingest(raw)
    if ('reason' in read) return
    const { event, message } = read
    if (isPartial(event)) this.#stream(event, message)
    else if (!this.#whole.has(event.id)) this.#complete(event, message)
    if (event.author === 'user') return
    const status = statusAfter(event)
    if (this.#status.get(event.author) === status) return
    this.#status.set(event.author, status)
    this.#answers.status = undefined
  }

  messages(): DerivedMessage[] {
    if (this.#changed.size === 0) return this.#shown
    let shown = [...this.#shown]
    for (const grown of this.#changed) {
      const message = this.#message(grown)
      if (message === undefined && grown.shown < 0) continue
      if (message !== undefined && grown.shown >= 0) shown[grown.shown] = message
      else if (message !== undefined && grown.place > this.#last) {
        grown.shown = shown.push(message) - 1
        this.#last = grown.place
      } else {
        shown = this.#inOrder()
        break
      }
    }
    this.#changed.clear()
    this.#shown = shown
    return shown
  }
  thoughts(): Record<string, string> {
    this.#answers.thoughts ??= Object.fromEntries(
      this.#grown.flatMap(({ id, thoughts, streamedThoughts }) => {
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

  /** All messages again: one that began earlier got its first text late, or lost its text. They are in order of beginning. */
  #inOrder(): DerivedMessage[] {
    const shown: DerivedMessage[] = []
    for (const grown of this.#grown) {
      const message = this.#message(grown)
      grown.shown = message === undefined ? -1 : shown.push(message) - 1
      if (message !== undefined) this.#last = grown.place
    }
    return shown
  }

  #stream(event: AdkEvent, message: string): void {
    for (const part of partsOf(event.content)) {
      const text = textOf(part)
      if (text === '') continue
      const grown = this.#grownOf(event, message)
      if (part.thought !== true) grown.streamedText += text
      else {
        grown.streamedThoughts += text
        this.#answers.thoughts = undefined
      }
    }
  }

  #complete(event: AdkEvent, message: string): void {
    this.#whole.add(event.id)
    const parts = partsOf(event.content)
    if (isAggregate(event)) {
      const grown = this.#grownOf(event, message)
      grown.text += spokenText(event)
      for (const part of parts) if (part.thought === true) grown.thoughts = lines(grown.thoughts, textOf(part))
      grown.streamedText = ''
      grown.streamedThoughts = ''
      this.#answers.thoughts = undefined
    }
    for (const part of parts) this.#answered(event, part)
    this.#handedOver(event)
  }

  #grownOf(event: AdkEvent, id: string): Grown {
    const known = this.#messages.get(id)
    const grown = known ?? {
      id,
      place: this.#grown.length,
      first: event,
      sources: [],
      text: '',
      thoughts: '',
      streamedText: '',
      streamedThoughts: '',
      made: undefined,
      shown: -1,
    }
    if (known === undefined) {
      this.#messages.set(id, grown)
      this.#grown.push(grown)
    }
    if (grown.sources.at(-1) !== event.id) grown.sources.push(event.id)
    grown.made = undefined
    this.#changed.add(grown)
    return grown
  }

  #message(grown: Grown): DerivedMessage | undefined {
    const { id, first, sources, text, streamedText } = grown
    const content = text + streamedText
    if (content === '') return undefined
    grown.made ??= withSources(this.#from(first, `msg_${id}`, content, 'text'), sources)
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
    this.#answers.updates = undefined
  }

  #handedOver(event: AdkEvent): void {
    const to = transferOf(event)
    if (to === undefined) return
    const { id, author, timestamp } = event
    this.#transitions.push({ fromAgent: author, toAgent: to, eventId: id, timestamp: isoTime(timestamp) })
    this.#answers.transitions = undefined
    this.#answers.updates = undefined
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

/** Selectors are called after every event: a derivation is kept by the first event of the list and continued from there. */
const derivations = new WeakMap<object, Derivation>()
/** Sessions whose store has its own derivation, with the number of events it had taken. */
const kept = new WeakMap<SessionEvents, { readonly derivation: Derivation; readonly count: number }>()

export function derivationOf(session: SessionEvents): Derivation {
  const own = kept.get(session)
  if (own !== undefined && own.derivation.count === own.count) return own.derivation
  const { id, rawEvents } = session
  const first: unknown = rawEvents[0]
  const known = isObject(first) ? derivations.get(first) : undefined
  if (known?.covers(session) === true) return known.read(rawEvents)
  const made = new Derivation(id).read(rawEvents)
  if (isObject(first)) derivations.set(first, made)
  return made
}

/**
 * Marks a session as derived by `derivation` so far, so that the selectors answer from it. For a store that takes events
 * one at a time and keeps fewer of them than it has taken.
 */
export function derivedBy<S extends ChatSession>(session: S, derivation: Derivation): S {
  kept.set(session, { derivation, count: derivation.count })
  return session
}

/** A message of 10,000 tokens has as many sources and is made again with each: the list is made on demand. */
function withSources(message: DerivedMessage, sources: readonly string[]): DerivedMessage {
  const count = sources.length
  let listed: string[] | undefined
  return {
    ...message,
    get sourceEventIds() {
      listed ??= sources.slice(0, count)
      return listed
    },
  }
}

function statusAfter(event: AdkEvent): 'active' | 'idle' {
  return isFinalResponse(event) || isErrorEvent(event) || transferOf(event) !== undefined ? 'idle' : 'active'
}

function lines(before: string, text: string): string {
  return before === '' || text === '' ? before + text : `${before}\n${text}`
}
