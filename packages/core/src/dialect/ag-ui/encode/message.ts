import type { AdkFunctionResponse, AdkPart } from '../../../event/adk-event.ts'
import { adkRequest } from '../../../event/adk-request.ts'
import type { AgentSaid, RunEvent } from '../../../event/run-event.ts'
import { isPartial } from '../../../event/streaming.ts'
import { beginsWith } from '../../../json/begins-with.ts'
import { isJsonObject, isObject, type Json, type JsonObject } from '../../../json/json.ts'
import { contentFromResponse, mediaPart } from '../content.ts'
import { mediaActivity, partActivity } from '../decode/fact.ts'
import { printFact } from '../fact.ts'
import { argumentText, partsIn } from '../message.ts'
import { keptOf, restOf } from '../wire.ts'
import type { Nodes } from './node.ts'
import { StreamingText } from './streaming-text.ts'
import { type AgUiWriter, marked, tagged, type WrittenMark } from './writer.ts'

/** One message of the log: its ids on the wire, and what was streamed since its last aggregate. */
interface Speech {
  readonly text: string
  reasoning: string
  span: string | null
  /** Streamed since the last aggregate. The next aggregate repeats it, and counts where it differs. */
  said: string
  thought: string
  /** The last aggregate: the same one delivered twice adds nothing. */
  last?: { readonly event: string; readonly length: number; readonly hash: number }
}

/** A tool call of the current run that has no result yet. */
export interface Waiting {
  readonly id: string
  readonly name: string
}

/** Prints the events of agents. Only `partial` distinguishes deltas from aggregates (SPEC 1.4). */
export class MessageEncoder {
  readonly #writer: AgUiWriter
  readonly #nodes: Nodes
  readonly #speeches = new Map<string, Speech>()
  /** The wire ids of each printed message of the log, needed when it no longer counts. Nearly all have only one. */
  readonly #printed = new Map<string, string | Set<string>>()
  readonly #waiting = new Map<string, Waiting>()
  #wired = false
  /** The text that the last event continued, for the tokens that follow. */
  readonly streaming: StreamingText

  constructor(writer: AgUiWriter, nodes: Nodes) {
    this.#writer = writer
    this.streaming = new StreamingText(writer)
    this.#nodes = nodes
  }

  /** A run begins; `wired` when it was read from an AG-UI wire, which is printed as it came. */
  begin(wired: boolean): void {
    this.#wired = wired
    this.#waiting.clear()
  }
  /** The calls of this run without a result. */
  get waiting(): readonly Waiting[] {
    return [...this.#waiting.values()]
  }

  /** These messages no longer count: closes them if they are open, forgets them, and returns their ids on the wire. */
  cut(messages: readonly string[]): ReadonlySet<string> {
    const ids = new Set<string>()
    for (const message of messages) {
      const speech = this.#speeches.get(message)
      if (speech !== undefined) {
        this.#writer.closeReasoning(speech.reasoning, speech.span, {})
        this.#writer.closeText(speech.text, {})
      }
      for (const id of this.#printedOf(message)) {
        ids.add(id)
        for (const { id: call } of this.#writer.document.message(id)?.toolCalls ?? []) {
          this.#writer.closeCall(call, {})
          this.#waiting.delete(call)
        }
      }
      this.#speeches.delete(message)
      this.#printed.delete(message)
    }
    return ids
  }

  say(said: AgentSaid & RunEvent): void {
    const kept = keptOf(said)
    const parts = partsIn(said.event.content?.parts)
    const tag = this.#nodes.speaker(said)
    const mark: WrittenMark = { tag, rest: restOf(kept) }
    if (isJsonObject(kept.signature)) this.#sign(kept.signature, parts, mark)
    else if (isPartial(said.event)) this.#stream(said, parts, mark, kept)
    else this.#aggregate(said, parts, mark, kept)
  }

  #stream(said: AgentSaid, parts: readonly AdkPart[], mark: WrittenMark, kept: JsonObject): void {
    const speech = this.#speech(said.message, kept)
    for (const part of parts) {
      const call = part.functionCall
      if (isObject(call) && typeof call.argsDelta === 'string' && typeof call.id === 'string') {
        if (this.#openCall(said, part, call.id, mark, kept)) this.#writer.appendCall(call.id, call.argsDelta, mark)
      } else if (typeof part.text === 'string') {
        if (part.thought === true) this.#think(said, speech, part.text, mark, kept)
        else this.#talk(said, speech, part.text, mark, kept)
      }
    }
  }

  /**
   * The kept fields belong to the one event that the frame was: the START, or the delta if the message is open already.
   */
  #talk(said: AgentSaid, speech: Speech, delta: string, mark: WrittenMark, kept: JsonObject): void {
    this.#writer.closeReasoning(speech.reasoning, speech.span, { tag: mark.tag })
    this.#openText(said, speech, delta === '' ? mark : { tag: mark.tag }, kept)
    this.#writer.appendText(speech.text, delta, mark)
    speech.said += delta
    this.streaming.begin(said, speech, mark.tag)
  }
  #think(said: AgentSaid, speech: Speech, delta: string, mark: WrittenMark, kept: JsonObject): void {
    const opener = delta === '' ? mark : { tag: mark.tag }
    const spanRest = isJsonObject(kept.spanRest) ? kept.spanRest : undefined
    this.#print(said.message, speech.reasoning)
    this.#writer.openReasoning(speech.reasoning, speech.span, opener, spanRest)
    this.#writer.appendReasoning(speech.reasoning, delta, mark)
    speech.thought += delta
  }

  #aggregate(said: AgentSaid, parts: readonly AdkPart[], mark: WrittenMark, kept: JsonObject): void {
    const speech = this.#speech(said.message, kept)
    const text = textIn(parts, false)
    const thought = textIn(parts, true)
    const length = thought.length + text.length
    const hash = hashOf(thought, hashOf(text))
    const { last } = speech
    const again = last?.event === said.event.id && last.length === length && last.hash === hash
    const plain = { tag: mark.tag }
    const wrong = !again && (text !== '' || thought !== '') && this.#settle(said, speech, text, thought, plain, kept)
    // If no call, result or file of this event has taken the kept fields, they belong to the END.
    const alone = parts.some((part) => typeof part.text !== 'string')
    this.#writer.closeReasoning(speech.reasoning, speech.span, alone || text !== '' ? plain : mark)
    this.#writer.closeText(speech.text, { tag: mark.tag, rest: endRest(said, alone ? undefined : mark.rest) })
    speech.said = ''
    speech.thought = ''
    speech.last = { event: said.event.id, length, hash }
    if (wrong) this.snapshot()
    if (parts.some(isMoreThanText)) {
      const calls = new Set<string>()
      for (const [index, part] of parts.entries()) this.#do(said, part, index, calls, mark, kept)
    }
    this.#seal(speech, parts, plain)
  }

  /**
   * The aggregate counts. If the deltas were only its beginning, the rest follows; if they differ from it, only a
   * snapshot can correct the text. Returns whether that is needed.
   */
  #settle(
    said: AgentSaid,
    speech: Speech,
    text: string,
    thought: string,
    mark: WrittenMark,
    kept: JsonObject,
  ): boolean {
    let wrong = false
    if (beginsWith(thought, speech.thought)) {
      const rest = thought.slice(speech.thought.length)
      if (rest !== '') this.#think(said, speech, rest, mark, kept)
    } else if (thought !== '') wrong = this.#correct(speech.reasoning, speech.thought, thought)
    if (beginsWith(text, speech.said)) {
      const rest = text.slice(speech.said.length)
      if (rest !== '') this.#talk(said, speech, rest, mark, kept)
    } else wrong = this.#correct(speech.text, speech.said, text) || wrong
    return wrong
  }
  #correct(id: string, streamed: string, whole: string): boolean {
    const content = this.#writer.document.message(id)?.content
    const before = typeof content === 'string' ? content.slice(0, content.length - streamed.length) : ''
    this.#writer.document.rewrite(id, before + whole)
    return true
  }

  /** Forgets the oldest messages where there are too many, and what was noted of them. */
  forget(): void {
    const { document } = this.#writer
    this.#writer.forget()
    for (const message of this.#printed.keys()) {
      let held = false
      for (const id of this.#printedOf(message)) held ||= document.message(id) !== undefined
      if (!held) this.#printed.delete(message)
    }
    for (const message of this.#speeches.keys()) if (!this.#printed.has(message)) this.#speeches.delete(message)
  }

  /** Prints the whole conversation as it is now, and says so if it is not the whole one. */
  snapshot(): void {
    const { forgotten } = this.#writer.document
    if (forgotten > 0) {
      const message = `the MESSAGES_SNAPSHOT after this lacks the first ${forgotten} messages, which are no longer held`
      this.#writer.write(printFact({ kind: 'log', level: 'warn', message }))
    }
    this.#writer.write({ type: 'MESSAGES_SNAPSHOT', messages: [...this.#writer.document.messages] })
  }

  /** A part that is neither text nor a thought. */
  #do(said: AgentSaid, part: AdkPart, index: number, calls: Set<string>, mark: WrittenMark, kept: JsonObject): void {
    const { functionCall: call, functionResponse: response } = part
    if (!this.#wired && isQuestion((call ?? response)?.name)) return
    if (isObject(call)) {
      // A client identifies a call by its id: a call without an id, or with one that another call has, gets a new id.
      const own = typeof call.id === 'string' && call.id !== '' && !calls.has(call.id) ? call.id : undefined
      const id = own ?? `${said.message}:${index}`
      calls.add(id)
      this.#call(said, part, id, mark, kept)
    } else if (isObject(response)) this.#answer(said, response, index, mark, kept)
    else if (typeof part.text !== 'string') this.#show(said, part, index, mark, kept)
  }

  /** Returns false for a call that was printed before: a source may repeat its events. */
  #openCall(said: AgentSaid, part: AdkPart, id: string, mark: WrittenMark, kept: JsonObject): boolean {
    if (this.#writer.isCallOpen(id)) return true
    if (this.#writer.document.call(id) !== undefined) return false
    const call = part.functionCall
    const speech = this.#speech(said.message, kept)
    const shared = speech.text === id ? undefined : speech.text
    const parent = kept.parent === undefined ? shared : kept.parent
    const name = typeof call?.name === 'string' ? call.name : ''
    const own = call?.argsDelta === '' ? mark.rest : undefined
    const rest = said.task === undefined ? own : { ...task(said), ...own }
    this.#writer.openCall(id, name, typeof parent === 'string' ? parent : undefined, { tag: mark.tag, rest })
    this.#print(said.message, this.#writer.document.call(id)?.message.id ?? id)
    this.#waiting.set(id, { id, name })
    return true
  }
  #call(said: AgentSaid, part: AdkPart, id: string, mark: WrittenMark, kept: JsonObject): void {
    if (!this.#openCall(said, part, id, mark, kept)) return
    const whole = argumentText(part.functionCall ?? {})
    const streamed = this.#writer.document.call(id)?.call.function.arguments ?? ''
    if (whole.startsWith(streamed)) this.#writer.appendCall(id, whole.slice(streamed.length), { tag: mark.tag })
    this.#writer.closeCall(id, mark)
    const { thoughtSignature } = part
    if (typeof thoughtSignature === 'string') this.#encrypt('tool-call', id, thoughtSignature, { tag: mark.tag })
  }

  #answer(said: AgentSaid, response: AdkFunctionResponse, index: number, mark: WrittenMark, kept: JsonObject): void {
    const id = typeof response.id === 'string' && response.id !== '' ? response.id : this.#oldest(response.name)
    const wanted = typeof kept.id === 'string' ? kept.id : said.message
    const messageId = this.#writer.document.message(wanted) === undefined ? wanted : `${wanted}:${index}`
    const content: Json = kept.content ?? contentFromResponse(response.response, partsIn(response.parts))
    this.#waiting.delete(id)
    this.#print(said.message, messageId)
    const result = { type: 'TOOL_CALL_RESULT', messageId, toolCallId: id, content }
    const rest = said.task === undefined ? mark.rest : { ...task(said), ...mark.rest }
    this.#writer.write(marked(result, mark.tag, rest))
  }
  /** For sources without call ids: a result answers the oldest open call of its name. */
  #oldest(name: unknown): string {
    for (const waiting of this.#waiting.values()) if (waiting.name === name) return waiting.id
    return typeof name === 'string' ? name : ''
  }

  /** An assistant's message contains text only, so files and code are activities, which clients keep in order. */
  #show(said: AgentSaid, part: AdkPart, index: number, mark: WrittenMark, kept: JsonObject): void {
    const media = mediaPart(part)
    const content = media ?? (part as JsonObject)
    if (!isJsonObject(content) || Object.keys(content).every((key) => key === 'thoughtSignature' || key === 'thought'))
      return
    const messageId = typeof kept.activity === 'string' ? kept.activity : `${said.message}:part-${index}`
    const activityType = media === undefined ? partActivity : mediaActivity
    this.#print(said.message, messageId)
    this.#writer.write({
      type: 'ACTIVITY_SNAPSHOT',
      messageId,
      activityType,
      content,
      ...tagged(mark.tag),
      ...mark.rest,
    })
  }

  /** Prints the signatures of text and thoughts. */
  #seal(speech: Speech, parts: readonly AdkPart[], mark: WrittenMark): void {
    for (const part of parts) {
      if (typeof part.thoughtSignature !== 'string' || isObject(part.functionCall)) continue
      const id = part.thought === true ? speech.reasoning : speech.text
      if (this.#writer.document.message(id) !== undefined) this.#encrypt('message', id, part.thoughtSignature, mark)
    }
  }
  #sign(signature: JsonObject, parts: readonly AdkPart[], mark: WrittenMark): void {
    const { subtype, entityId } = signature
    const [part] = parts
    if (typeof entityId !== 'string' || typeof part?.thoughtSignature !== 'string') return
    this.#encrypt(subtype === 'tool-call' ? subtype : 'message', entityId, part.thoughtSignature, mark)
  }
  #encrypt(
    subtype: 'message' | 'tool-call',
    entityId: string,
    encryptedValue: string,
    { tag, rest }: WrittenMark,
  ): void {
    const { document } = this.#writer
    const owner = subtype === 'message' ? document.message(entityId) : document.call(entityId)?.message
    const own = owner === undefined || owner.subagentRunId === tag ? tagged(tag) : {}
    this.#writer.write({ type: 'REASONING_ENCRYPTED_VALUE', subtype, entityId, encryptedValue, ...own, ...rest })
  }

  #openText(said: AgentSaid, speech: Speech, mark: WrittenMark, kept: JsonObject): void {
    if (this.#writer.isTextOpen(speech.text)) return
    const role = roleOf(said)
    const voice = role === 'assistant' ? this.#nodes.voice(mark.tag, said.event.author) : role
    const name = said.event.author === voice ? kept.name : said.event.author
    this.#print(said.message, speech.text)
    const rest = said.task === undefined ? mark.rest : { ...task(said), ...mark.rest }
    this.#writer.openText(speech.text, role, typeof name === 'string' ? name : undefined, { tag: mark.tag, rest })
  }

  #speech(message: string, kept: JsonObject): Speech {
    const known = this.#speeches.get(message)
    if (known !== undefined) return known
    const reasoning = typeof kept.reasoning === 'string' ? kept.reasoning : `${message}:reasoning`
    const span = kept.span === null || typeof kept.span === 'string' ? kept.span : reasoning
    const text = typeof kept.id === 'string' ? kept.id : message
    const made: Speech = { text, reasoning, span, said: '', thought: '' }
    this.#speeches.set(message, made)
    return made
  }

  #print(message: string, id: string): void {
    const ids = this.#printed.get(message)
    if (ids === undefined) this.#printed.set(message, id)
    else if (typeof ids !== 'string') ids.add(id)
    else if (ids !== id) this.#printed.set(message, new Set([ids, id]))
  }
  #printedOf(message: string): Iterable<string> {
    const ids = this.#printed.get(message) ?? []
    return typeof ids === 'string' ? [ids] : ids
  }
}

/** ADK asks a person with calls of its own. AG-UI has interrupts for that, and a client must not see both. */
function isQuestion(name: unknown): boolean {
  return questions.has(name)
}
const questions: ReadonlySet<unknown> = new Set(Object.values(adkRequest))

/** FNV-1a: a text is compared with one of the same event and length, and need not be kept for that. */
function hashOf(text: string, before = 0x811c9dc5): number {
  let hash = before
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}

function isMoreThanText({ text, functionCall, functionResponse }: AdkPart): boolean {
  return typeof text !== 'string' || functionCall !== undefined || functionResponse !== undefined
}

function textIn(parts: readonly AdkPart[], thought: boolean): string {
  let all = ''
  for (const part of parts) if (typeof part.text === 'string' && (part.thought === true) === thought) all += part.text
  return all
}

function roleOf({ event }: AgentSaid): string {
  const role = event.content?.role
  if (role === 'system' || role === 'developer') return role
  return role === 'user' || event.author === 'user' ? 'user' : 'assistant'
}

/** The task of the message, in runs that work on a plan. */
function task({ task: id }: AgentSaid): JsonObject {
  return id === undefined ? {} : { metadata: { millrace: { task: id } } }
}

/** What is known only at the end of a message: its finish reason, unless it is normal, and its grounding. */
function endRest({ event }: AgentSaid, rest: JsonObject | undefined): JsonObject | undefined {
  const { finishReason, groundingMetadata, citationMetadata } = event
  const ends = finishReason === undefined || finishReason === 'STOP'
  if (ends && groundingMetadata === undefined && citationMetadata === undefined) return rest
  const metadata = {
    ...(typeof finishReason === 'string' && finishReason !== 'STOP' ? { finishReason } : {}),
    ...(isObject(groundingMetadata) ? { groundingMetadata } : {}),
    ...(isObject(citationMetadata) ? { citationMetadata } : {}),
  }
  if (rest?.metadata !== undefined || Object.keys(metadata).length === 0) return rest
  return { ...rest, metadata: metadata as JsonObject }
}
