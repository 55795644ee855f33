import { createHash } from 'node:crypto'
import {
  type AdkContent,
  type Calls,
  callsView,
  fold,
  isObject,
  isPartial,
  type Json,
  type Recorded,
  type RunEvent,
  type RunInput,
  type SentRequest,
  sameJson,
  sentContent,
} from '@millrace/core'
import { withoutSecrets } from './redact.ts'

/** The words that are sent to a model. */
export interface RequestWords {
  readonly system?: Json
  /** `{ role, parts }` each, oldest first. */
  readonly contents: readonly Json[]
  readonly tools?: Json
}

/** Characters that one request may add to the log. An event that is too large would end the run. */
const mostNew = 1_000_000

/** A content that is shorter than this is written as it is: a reference would be as long. */
const short = 48

/** Instructions and tools of so many agents are remembered; those of others are hashed again. */
const mostKnown = 16

/** How many messages of the run are compared with a new content before it is printed: some are of other agents. */
const ahead = 4

interface Sent {
  readonly key: string
  /** Copies of the contents, before secrets were taken out: callbacks may change what they were given. */
  readonly contents: readonly Json[]
}

/**
 * Writes model requests so that nothing is in the log twice (SPEC 1.10): an agent's next request continues its last one,
 * messages of the log are named, and other values are kept once, under their hash.
 */
export class RequestWriter {
  readonly #history: readonly Recorded[]
  readonly #secrets: readonly string[]
  /** The newest request of each agent. */
  readonly #sent = new Map<string, Sent>()
  readonly #values = new Set<string>()
  /** Copies of instructions and tools that are in the log, before secrets were taken out; the newest first. */
  readonly #known: { readonly value: Json; readonly reference: string }[] = []
  /** The ids of messages by the text of their contents. */
  readonly #messages = new Map<string, string>()
  /** Copies of the messages of this run, because graphs may change theirs, and how many of them are in `#messages`. */
  readonly #own: { readonly id: string; readonly content: Json }[] = []
  #read = 0
  /** A request mostly adds the next messages of its run: where in `#own` the next content is looked for. */
  #next = 0
  #past: Calls | undefined
  #isPastRead = false

  constructor(history: readonly Recorded[], input: RunInput, secrets: readonly string[]) {
    this.#history = history
    this.#secrets = secrets
    for (const { id, content } of input.messages) this.#take(id, content)
  }

  /** Takes every event that the run yields, in their order. */
  note(event: RunEvent): void {
    if (event.kind === 'agent' && !isPartial(event.event)) this.#take(event.message, event.event.content)
  }

  write(key: string, agent: string, words: RequestWords): SentRequest {
    this.#past ??= fold(callsView, this.#history)
    const base = this.#sent.get(agent) ?? this.#before(agent)
    const keep = base === undefined ? 0 : shared(base.contents, words.contents)
    const values: Record<string, Json> = {}
    const contents: Json[] = []
    const copies: Json[] = base === undefined ? [] : base.contents.slice(0, keep)
    for (let i = keep; i < words.contents.length; i++) {
      const content = words.contents[i] as Json
      const message = this.#nextMessage(content)
      const text = message === undefined ? JSON.stringify(content) : ''
      contents.push(message === undefined ? this.#contentOf(text, values) : `@${message.id}`)
      copies.push(message === undefined ? (JSON.parse(text) as Json) : message.content)
    }
    const system = this.#valueOf(words.system, values)
    const tools = this.#valueOf(words.tools, values)
    const size = Object.values(values).reduce((sum: number, value) => sum + JSON.stringify(value).length, 0)
    if (size > mostNew) {
      this.#sent.delete(agent)
      return { contents: [], omitted: `The request has ${size} characters that are new, more than the log takes.` }
    }
    for (const hash of Object.keys(values)) this.#values.add(hash)
    this.#sent.set(agent, { key, contents: copies })
    return {
      ...(base === undefined || keep === 0 ? {} : { like: base.key, keep }),
      contents,
      ...(system === undefined ? {} : { system }),
      ...(tools === undefined ? {} : { tools }),
      ...(Object.keys(values).length === 0 ? {} : { values }),
    }
  }

  #take(id: string, content: AdkContent | undefined): void {
    const copy = isObject(content) ? copyOf(sentContent(content)) : undefined
    if (copy !== undefined) this.#own.push({ id, content: copy })
  }

  #before(agent: string): Sent | undefined {
    const { calls, index } = this.#past ?? callsView.initial
    for (let at = calls.length - 1; at >= 0; at--) {
      const call = calls.at(at)
      const request = call?.agent === agent ? index.requests.get(call.key) : undefined
      if (call !== undefined && request !== undefined && request.omitted === undefined)
        return { key: call.key, contents: request.contents.toArray() }
    }
    return undefined
  }

  #contentOf(text: string, values: Record<string, Json>): Json {
    const message = this.#messageOf(text)
    if (message !== undefined) return `@${message}`
    const value = withoutSecrets(text, this.#secrets)
    return text.length < short && typeof value !== 'string' ? value : this.#reference(value, values)
  }

  /** Instructions and tools are the same in most calls of an agent: what is in the log is neither printed nor hashed again. */
  #valueOf(value: Json | undefined, values: Record<string, Json>): string | undefined {
    if (value === undefined) return undefined
    const known = this.#known.find((each) => sameJson(each.value, value))
    if (known !== undefined) return known.reference
    const text = JSON.stringify(value)
    const reference = this.#reference(withoutSecrets(text, this.#secrets), values)
    // A value that is new is not in the log yet, and will not be if the request is too large for it.
    if (this.#isKnown(reference.slice(1))) {
      this.#known.unshift({ value: JSON.parse(text) as Json, reference })
      this.#known.length = Math.min(this.#known.length, mostKnown)
    }
    return reference
  }

  #reference(value: Json, values: Record<string, Json>): string {
    const hash = createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16)
    if (!this.#isKnown(hash)) values[hash] = value
    return `#${hash}`
  }

  #isKnown(hash: string): boolean {
    return this.#values.has(hash) || this.#past?.index.values.get(hash) !== undefined
  }

  /** The message with this content, if it is one of the next of this run. To compare it takes less than to print it. */
  #nextMessage(content: Json): { readonly id: string; readonly content: Json } | undefined {
    const end = Math.min(this.#own.length, this.#next + ahead)
    for (let at = this.#next; at < end; at++) {
      const message = this.#own[at]
      if (message === undefined || !sameJson(message.content, content)) continue
      this.#next = at + 1
      return message
    }
    return undefined
  }

  /** The message with this content. The messages of earlier runs are read once a request has something that is not of this run. */
  #messageOf(text: string): string | undefined {
    for (const { id, content } of this.#own.slice(this.#read)) this.#messages.set(JSON.stringify(content), id)
    this.#read = this.#own.length
    const found = this.#messages.get(text)
    if (found !== undefined || this.#isPastRead) return found
    this.#isPastRead = true
    for (const [id, content] of this.#past?.index.messages ?? []) {
      const past = JSON.stringify(content)
      if (!this.#messages.has(past)) this.#messages.set(past, id)
    }
    return this.#messages.get(text)
  }
}

/** Undefined for what is no JSON: the log refuses such a message, so that no request can name it. */
function copyOf(content: Json): Json | undefined {
  try {
    return JSON.parse(JSON.stringify(content)) as Json
  } catch {
    return undefined
  }
}

function shared(before: readonly Json[], now: readonly Json[]): number {
  const most = Math.min(before.length, now.length)
  for (let i = 0; i < most; i++) if (!sameJson(before[i], now[i])) return i
  return most
}
