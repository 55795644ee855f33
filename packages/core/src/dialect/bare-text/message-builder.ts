import type { AdkEvent, AdkPart } from '../../event/adk-event.ts'
import type { AgentSaid, NodeId } from '../../event/run-event.ts'
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../json/json.ts'

export interface MessageAuthor {
  readonly author: string
  readonly node?: NodeId
  readonly task?: string
}

/**
 * Agent events for wires that carry bare text and calls instead of ADK events: deltas become partials, and the
 * aggregate follows as soon as the message is over, so that nothing is lost when partials are pruned (SPEC 1.4).
 */
export interface MessageBuilder {
  delta(speaker: MessageAuthor, text: string, thought?: boolean): readonly AgentSaid[]
  call(speaker: MessageAuthor, id: string, name: string, args: JsonObject): readonly AgentSaid[]
  result(speaker: MessageAuthor, id: string, name: string, response: JsonObject): readonly AgentSaid[]
  error(speaker: MessageAuthor, message: string): readonly AgentSaid[]
  /** Ends the message that is streaming and returns its aggregate. With a speaker, only if the message is theirs. */
  close(speaker?: MessageAuthor): readonly AgentSaid[]
  /**
   * Ends it where the wire itself sends the whole text, which replaces what was streamed, or is a message of its own.
   */
  whole(speaker: MessageAuthor, text: string): readonly AgentSaid[]
}

interface Streaming {
  readonly speaker: MessageAuthor
  readonly message: string
  readonly parts: { text: string; readonly thought: boolean }[]
}

/** ADK's tool to hand over to another agent; its result carries the transfer as an action. */
const transfer = 'transfer_to_agent'

export function messageBuilder(run: string): MessageBuilder {
  let count = 0
  let streaming: Streaming | undefined
  const transfers = new Map<string, string>()

  const say = (speaker: MessageAuthor, event: Partial<AdkEvent>, message?: string): AgentSaid => {
    count += 1
    const id = `${run}/${count}`
    const made = { id, author: speaker.author, invocationId: run, timestamp: 0, ...event }
    return saidBy(speaker, made, message ?? id)
  }
  /** ADK joins partials by author and branch, so any other event of the author ends the message (SPEC 1.4). */
  const interrupt = (speaker: MessageAuthor): readonly AgentSaid[] =>
    streaming?.speaker.author === speaker.author ? close() : []
  const close: MessageBuilder['close'] = (speaker) => {
    if (streaming === undefined || (speaker !== undefined && !same(speaker, streaming.speaker))) return []
    const { speaker: own, message, parts } = streaming
    streaming = undefined
    return [say(own, { content: { role: 'model', parts: parts.map(partOf) } }, message)]
  }

  return {
    close,
    // Each token passes here, so its event is made in one piece.
    delta(speaker, text, thought = false) {
      const closed = streaming !== undefined && !same(speaker, streaming.speaker) ? close() : none
      const id = `${run}/${++count}`
      streaming ??= { speaker, message: id, parts: [] }
      const last = streaming.parts.at(-1)
      if (last?.thought === thought) last.text += text
      else streaming.parts.push({ text, thought })
      const event: AdkEvent = {
        id,
        author: speaker.author,
        invocationId: run,
        timestamp: 0,
        content: { role: 'model', parts: [thought ? { text, thought } : { text }] },
        partial: true,
      }
      const said = saidBy(speaker, event, streaming.message)
      return closed.length === 0 ? [said] : [...closed, said]
    },
    call(speaker, id, name, args) {
      const target = args.agentName ?? args.agent_name
      if (name === transfer && typeof target === 'string') transfers.set(id, target)
      return [
        ...interrupt(speaker),
        say(speaker, { content: { role: 'model', parts: [{ functionCall: { id, name, args } }] } }),
      ]
    },
    result(speaker, id, name, response) {
      const transferToAgent = transfers.get(id)
      transfers.delete(id)
      return [
        ...interrupt(speaker),
        say(speaker, {
          content: { role: 'user', parts: [{ functionResponse: { id, name, response } }] },
          ...(transferToAgent === undefined ? {} : { actions: { transferToAgent } }),
        }),
      ]
    },
    whole(speaker, text) {
      const parts = [...(streaming?.parts.filter(({ thought }) => thought) ?? []), { text, thought: false }]
      const said = say(
        streaming?.speaker ?? speaker,
        { content: { role: 'model', parts: parts.map(partOf) } },
        streaming?.message,
      )
      streaming = undefined
      return [said]
    },
    error: (speaker, message) => [...interrupt(speaker), say(speaker, { errorMessage: message })],
  }
}

const none: readonly never[] = []

/** Written out, because each token passes here and a spread takes longer than all the rest. */
function saidBy({ node, task }: MessageAuthor, event: AdkEvent, message: string): AgentSaid {
  if (node === undefined)
    return task === undefined ? { kind: 'agent', event, message } : { kind: 'agent', event, message, task }
  return task === undefined ? { kind: 'agent', event, message, node } : { kind: 'agent', event, message, node, task }
}

function same(a: MessageAuthor, b: MessageAuthor): boolean {
  return a === b || (a.author === b.author && a.node === b.node && a.task === b.task)
}

function partOf({ text, thought }: { readonly text: string; readonly thought: boolean }): AdkPart {
  return thought ? { text, thought } : { text }
}

/** Arguments as an object. Some servers send them as JSON text; any other value is kept under `input`. */
export function argsOf(args: Json | undefined): JsonObject {
  const parsed = typeof args === 'string' ? parseJson(args) : undefined
  const value = parsed !== undefined && 'value' in parsed ? parsed.value : args
  if (isJsonObject(value)) return value
  return args === undefined || args === null || args === '' ? {} : { input: args }
}

/** A tool's bare result as ADK would carry it: objects as they are, everything else under `result`. */
export function responseFromResult(result: Json): JsonObject {
  return isJsonObject(result) && !isWrapped(result) ? result : { result }
}

/** The inverse: a result that already looks wrapped is wrapped once more on the way in. */
export function resultFromResponse(response: JsonObject): Json {
  return isWrapped(response) ? (response.result ?? null) : response
}

/**
 * Whether it is `{ result }` around a value that is no object, once or more often. Around an object it is the tool's
 * own.
 */
function isWrapped(response: JsonObject): boolean {
  let value: Json | undefined = response
  while (isJsonObject(value) && Object.keys(value).length === 1 && Object.hasOwn(value, 'result')) value = value.result
  return value !== response && !isJsonObject(value)
}
