import {
  type AdkContent,
  type Calls,
  callsView,
  fold,
  isObject,
  isPartial,
  isSentContent,
  type Json,
  type Recorded,
  type RunEvent,
  type RunInput,
  type SentRequest,
  sameJson,
  sentContent,
} from '@millrace/core'
import { type CleanValue, type CleanValues, cleanValuesOf, hashed } from './clean-values.ts'
import { copyJson } from './copy-json.ts'
import { withoutSecrets } from './redact.ts'

/** The words that are sent to a model. */
export interface RequestWords {
  readonly system?: Json
  /** Oldest first. Of each its role and parts are sent, without the ids that ADK has made. */
  readonly contents: readonly AdkContent[]
  readonly tools?: Json
}

/** Characters that one request may add to the log. An event that is too large would end the run. */
const mostNew = 1_000_000

/** A content that is shorter than this is written as it is: a reference would be as long. */
const short = 48

/** How many messages of the run are compared with a new content before it is printed: some are of other agents. */
const ahead = 4

/** What a request adds, if it is not too large for the log. */
interface Added {
  readonly values: Record<string, Json>
  /** The characters of the values. */
  size: number
}

interface Sent {
  readonly key: string
  /** Copies of the contents, before secrets were taken out: callbacks may change what they were given. */
  readonly contents: Json[]
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
  /** Instructions and tools. */
  readonly #clean: CleanValues
  /** The ids of messages by the text of their contents. */
  readonly #messages = new Map<string, string>()
  /** The messages of this run, as a request carries them, and how many of them are in `#messages`. */
  readonly #own: { readonly id: string; readonly content: Json }[] = []
  #read = 0
  /** A request mostly adds the next messages of its run: where in `#own` the next content is looked for. */
  #next = 0
  #past: Calls | undefined
  #isPastRead = false

  constructor(history: readonly Recorded[], input: RunInput, secrets: readonly string[]) {
    this.#history = history
    this.#secrets = secrets
    this.#clean = cleanValuesOf(secrets)
    for (const { id, content } of input.messages) this.#take(id, content, true)
  }

  /** Takes every event that the run yields, in their order. `mayChange`: the agent holds its content and can change it. */
  note(event: RunEvent, mayChange: boolean): void {
    if (event.kind === 'agent' && !isPartial(event.event)) this.#take(event.message, event.event.content, mayChange)
  }

  write(key: string, agent: string, words: RequestWords): SentRequest {
    this.#past ??= fold(callsView, this.#history)
    const base = this.#sent.get(agent) ?? this.#before(agent)
    const keep = base === undefined ? 0 : shared(base.contents, words.contents)
    const added: Added = { values: {}, size: 0 }
    const contents: Json[] = []
    const copies: Json[] = []
    for (let i = keep; i < words.contents.length; i++) {
      const content = sentContent(words.contents[i] as AdkContent)
      const message = this.#nextMessage(content)
      const text = message === undefined ? JSON.stringify(content) : ''
      contents.push(message === undefined ? this.#contentOf(text, added) : `@${message.id}`)
      copies.push(message === undefined ? copyJson(content) : message.content)
    }
    const system = this.#valueOf(words.system, added)
    const tools = this.#valueOf(words.tools, added)
    const { values, size } = added
    if (size > mostNew) {
      this.#sent.delete(agent)
      return { contents: [], omitted: `The request has ${size} characters that are new, more than the log takes.` }
    }
    for (const hash of Object.keys(values)) this.#values.add(hash)
    this.#sent.set(agent, { key, contents: continued(base?.contents, keep, copies) })
    return {
      ...(base === undefined || keep === 0 ? {} : { like: base.key, keep }),
      contents,
      ...(system === undefined ? {} : { system }),
      ...(tools === undefined ? {} : { tools }),
      ...(Object.keys(values).length === 0 ? {} : { values }),
    }
  }

  #take(id: string, content: AdkContent | undefined, mayChange: boolean): void {
    if (!isObject(content)) return
    const sent = sentContent(content)
    try {
      this.#own.push({ id, content: mayChange ? copyJson(sent) : sent })
    } catch {
      // It is no JSON: the log refuses such a message, so that no request can name it.
    }
  }

  #before(agent: string): Sent | undefined {
    const { calls, index } = this.#past ?? callsView.initial
    for (let at = calls.length - 1; at >= 0; at--) {
      const call = calls.at(at)
      const request = call?.agent === agent ? index.requests.get(call.key) : undefined
      if (call !== undefined && request !== undefined && request.omitted === undefined)
        return { key: call.key, contents: [...request.contents.toArray()] }
    }
    return undefined
  }

  #contentOf(text: string, added: Added): Json {
    const message = this.#messageOf(text)
    if (message !== undefined) return `@${message}`
    const value = withoutSecrets(text, this.#secrets)
    return text.length < short && typeof value !== 'string' ? value : this.#reference(hashed(value), added)
  }

  #valueOf(value: Json | undefined, added: Added): string | undefined {
    return value === undefined ? undefined : this.#reference(this.#clean.of(value), added)
  }

  #reference({ value, hash, size }: CleanValue, added: Added): string {
    if (!this.#isKnown(hash) && added.values[hash] === undefined) {
      added.values[hash] = value
      added.size += size
    }
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

/** The copies that the next request is compared with, in the list of the last ones: a long conversation is not copied again. */
function continued(before: Json[] | undefined, keep: number, added: readonly Json[]): Json[] {
  const contents = before ?? []
  contents.length = keep
  for (const content of added) contents.push(content)
  return contents
}

function shared(before: readonly Json[], now: readonly AdkContent[]): number {
  const most = Math.min(before.length, now.length)
  for (let i = 0; i < most; i++) if (!isSentContent(before[i] as Json, now[i] as AdkContent)) return i
  return most
}
