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

interface Sent {
  readonly key: string
  /** The contents as JSON texts, before secrets were taken out. */
  readonly texts: readonly string[]
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
  readonly #messages = new Map<string, string>()
  /** Messages whose text was not looked at yet. */
  #unread: (readonly [id: string, content: Json])[] = []
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
    const texts = words.contents.map((content) => JSON.stringify(content))
    const base = this.#sent.get(agent) ?? this.#before(agent)
    const keep = base === undefined ? 0 : shared(base.texts, texts)
    const values: Record<string, Json> = {}
    const contents = texts.slice(keep).map((text) => this.#contentOf(text, values))
    const system = this.#valueOf(words.system, values)
    const tools = this.#valueOf(words.tools, values)
    const size = Object.values(values).reduce((sum: number, value) => sum + JSON.stringify(value).length, 0)
    if (size > mostNew) {
      this.#sent.delete(agent)
      return { contents: [], omitted: `The request has ${size} characters that are new, more than the log takes.` }
    }
    for (const hash of Object.keys(values)) this.#values.add(hash)
    this.#sent.set(agent, { key, texts })
    return {
      ...(base === undefined || keep === 0 ? {} : { like: base.key, keep }),
      contents,
      ...(system === undefined ? {} : { system }),
      ...(tools === undefined ? {} : { tools }),
      ...(Object.keys(values).length === 0 ? {} : { values }),
    }
  }

  #take(id: string, content: AdkContent | undefined): void {
    if (isObject(content)) this.#unread.push([id, sentContent(content)])
  }

  #before(agent: string): Sent | undefined {
    const { calls, index } = this.#past ?? callsView.initial
    for (let at = calls.length - 1; at >= 0; at--) {
      const call = calls.at(at)
      const request = call?.agent === agent ? index.requests.get(call.key) : undefined
      if (call !== undefined && request !== undefined && request.omitted === undefined)
        return { key: call.key, texts: request.contents.toArray().map((content) => JSON.stringify(content)) }
    }
    return undefined
  }

  #contentOf(text: string, values: Record<string, Json>): Json {
    const message = this.#messageOf(text)
    if (message !== undefined) return `@${message}`
    const value = withoutSecrets(text, this.#secrets)
    return text.length < short && typeof value !== 'string' ? value : this.#reference(value, values)
  }

  #valueOf(value: Json | undefined, values: Record<string, Json>): string | undefined {
    if (value === undefined) return undefined
    return this.#reference(withoutSecrets(JSON.stringify(value), this.#secrets), values)
  }

  #reference(value: Json, values: Record<string, Json>): string {
    const hash = createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16)
    const isKnown = this.#values.has(hash) || this.#past?.index.values.get(hash) !== undefined
    if (!isKnown) values[hash] = value
    return `#${hash}`
  }

  /** The message with this content. The messages of earlier runs are read once a request has something that is not of this run. */
  #messageOf(text: string): string | undefined {
    for (const [id, content] of this.#unread) this.#messages.set(JSON.stringify(content), id)
    this.#unread = []
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

function shared(before: readonly string[], now: readonly string[]): number {
  const most = Math.min(before.length, now.length)
  for (let i = 0; i < most; i++) if (before[i] !== now[i]) return i
  return most
}
