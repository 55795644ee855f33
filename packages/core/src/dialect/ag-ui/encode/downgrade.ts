import { defined } from '../../../json/defined.ts'
import { isJsonObject, type Json, type JsonObject } from '../../../json/json.ts'
import type { EncoderOptions } from '../../dialect.ts'
import { type AgUiEvent, print } from '../wire.ts'

/**
 * Turns the events of AG-UI 1.0 into what every client since 0.0.45 accepts. Those clients end the run at the first
 * event or field that their schemas refuse, so nothing newer may pass. Reasoning stays as it is, because those clients
 * have REASONING_*, and show nothing for the older THINKING_*.
 *
 * | 1.0 | 0.x |
 * |---|---|
 * | SUBAGENT_STARTED, _FINISHED, _ERROR | STEP_STARTED, STEP_FINISHED, under a name that no open step has |
 * | RUN_STARTED.input | the same, with `tools` and `context` even when empty |
 * | RUN_FINISHED.outcome | `interrupt` stays, after a CUSTOM `on_interrupt`; `cancelled` goes to the metadata; any other is left out |
 * | files in a tool's result | its text |
 * | image, audio, video, document in a user's message | binary |
 * | subagentRunId | absent |
 *
 * With `custom`, an `interrupt` goes to the metadata too: `useLangGraphInterrupt` of CopilotKit reads the event only if
 * the outcome has no interrupt.
 */
export interface Downgrade {
  push(event: AgUiEvent): readonly AgUiEvent[]
  /** The same for an event of a prelude: an open step keeps the name that it has on the shared stream. */
  repeat(event: AgUiEvent): readonly AgUiEvent[]
}

export function downgrade(questions: EncoderOptions['questions'] = 'outcome'): Downgrade {
  const steps = new Steps()
  const known = new KnownMessages()
  let asked = false
  const turn = (event: AgUiEvent): AgUiEvent => {
    switch (event.type) {
      case 'RUN_STARTED':
        return isJsonObject(event.input) ? { ...event, input: inputFor0x(event.input) } : event
      case 'RUN_FINISHED':
        return finishFor0x(event, questions)
      case 'MESSAGES_SNAPSHOT':
        return { ...event, messages: messagesFor0x(event.messages) }
      case 'TOOL_CALL_RESULT':
        return untagged({ ...event, content: resultFor0x(event.content) })
      case 'TOOL_CALL_START':
        return untagged(known.call(event))
      case 'STEP_STARTED':
      case 'SUBAGENT_STARTED':
        return steps.start(event)
      case 'STEP_FINISHED':
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        return steps.finish(event)
      default:
        return untagged(event)
    }
  }
  return {
    push(event) {
      if (event.type === 'RUN_STARTED') {
        steps.clear()
        asked = false
      }
      if (event.type === 'CUSTOM' && event.name === questionName) asked = true
      const made = turn(event)
      if (event.type.endsWith('_FINISHED') || event.type === 'SUBAGENT_ERROR') steps.close(event)
      known.note(made)
      return asked ? [made] : [...questionsFor0x(event), made]
    },
    repeat: (event) => [...questionsFor0x(event), turn(event)],
  }
}

/** Steps and subagents together: 0.x identifies a step by its name alone, whichever agent it belongs to. */
class Steps {
  /** The printed name of each open step or subagent, by `keyOf`. */
  readonly #open = new Map<string, string>()
  /** The printed names that are in use. */
  readonly #taken = new Set<string>()
  /** The highest number given to steps of one name. No number is used twice, so no free one has to be searched. */
  readonly #numbers = new Map<string, number>()

  clear(): void {
    for (const index of [this.#open, this.#taken, this.#numbers]) index.clear()
  }

  start(event: AgUiEvent): AgUiEvent {
    const { type: _, subagentRunId, name, stepName, description, metadata, ...rest } = event
    const key = keyOf(event)
    const known = this.#open.get(key) ?? this.#free(text(event.type === 'STEP_STARTED' ? stepName : name))
    this.#open.set(key, known)
    this.#taken.add(known)
    if (event.type === 'STEP_STARTED') return { ...untagged(event), stepName: known }
    const { parentSubagentRunId, parentToolCallId, parentMessageId, ...others } = rest
    const subagent = { subagentRunId, name, description, parentSubagentRunId, parentToolCallId, parentMessageId }
    return {
      type: 'STEP_STARTED',
      stepName: known,
      ...others,
      metadata: noted(metadata, { subagent: defined(subagent) }),
    }
  }

  finish(event: AgUiEvent): AgUiEvent {
    const stepName = this.#open.get(keyOf(event)) ?? text(event.stepName)
    if (event.type === 'STEP_FINISHED') return { ...untagged(event), stepName }
    const { type: _, subagentRunId, message, code, outcome, result, metadata, ...rest } = event
    const error = message === undefined ? undefined : defined({ message, code })
    const subagent = defined({ subagentRunId, result, outcome, error })
    return { type: 'STEP_FINISHED', stepName, ...rest, metadata: noted(metadata, { subagent }) }
  }

  close(event: AgUiEvent): void {
    const name = this.#open.get(keyOf(event))
    if (name === undefined) return
    this.#open.delete(keyOf(event))
    this.#taken.delete(name)
  }

  #free(wanted: string): string {
    if (!this.#taken.has(wanted)) return wanted
    let count = this.#numbers.get(wanted) ?? 1
    do count += 1
    while (this.#taken.has(`${wanted}@${count}`))
    this.#numbers.set(wanted, count)
    return `${wanted}@${count}`
  }
}

function keyOf({ type, subagentRunId, stepName }: AgUiEvent): string {
  return type.startsWith('STEP_') ? `step ${text(subagentRunId)}\n${text(stepName)}` : `subagent ${text(subagentRunId)}`
}

/**
 * A client of 0.0.46 adds a call to its parent only if that is the last message, and otherwise makes a second message
 * with the same id. Such a call is printed without its parent, and gets a message of its own.
 */
class KnownMessages {
  readonly #known = new Set<string>()
  #last = ''

  call(event: AgUiEvent): AgUiEvent {
    const { parentMessageId: parent, ...rest } = event
    if (typeof parent !== 'string' || parent === this.#last || !this.#known.has(parent)) return event
    return { ...rest, type: event.type }
  }

  note(event: AgUiEvent): void {
    const { messageId, toolCallId, parentMessageId, messages, input } = event
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START':
      case 'ACTIVITY_SNAPSHOT':
      case 'TOOL_CALL_RESULT':
        this.#add(messageId)
        break
      case 'TOOL_CALL_START':
        this.#add(parentMessageId ?? toolCallId)
        break
      case 'RUN_STARTED':
        if (isJsonObject(input)) this.#addAll(input.messages)
        break
      case 'MESSAGES_SNAPSHOT':
        this.#known.clear()
        this.#addAll(messages)
    }
  }

  #addAll(messages: Json | undefined): void {
    for (const message of listed(messages)) if (isJsonObject(message)) this.#add(message.id)
  }
  #add(id: Json | undefined): void {
    if (typeof id !== 'string' || this.#known.has(id)) return
    this.#known.add(id)
    this.#last = id
  }
}

function inputFor0x(input: JsonObject): JsonObject {
  const { messages, tools, context } = input
  return { ...input, messages: messagesFor0x(messages), tools: [...listed(tools)], context: [...listed(context)] }
}

function finishFor0x(event: AgUiEvent, questions: EncoderOptions['questions']): AgUiEvent {
  const { outcome, metadata, ...rest } = event
  const kind = isJsonObject(outcome) ? outcome.type : undefined
  const hidden =
    kind === 'cancelled' ? kind : kind === 'interrupt' && questions === 'custom' ? 'interrupted' : undefined
  const note = hidden === undefined ? metadata : noted(metadata, { outcome: hidden })
  const same: AgUiEvent = { ...rest, type: event.type, ...(note === undefined ? {} : { metadata: note }) }
  if (!isJsonObject(outcome) || kind !== 'interrupt' || hidden !== undefined) return same
  const interrupts = listed(outcome.interrupts).map((one) => (isJsonObject(one) ? untag(one) : one))
  return { ...same, outcome: { type: kind, interrupts } }
}

/** Clients without interrupts know LangGraph's custom event, and answer it with `forwardedProps.command.resume`. */
function questionsFor0x({ type, outcome }: AgUiEvent): readonly AgUiEvent[] {
  if (type !== 'RUN_FINISHED' || !isJsonObject(outcome) || outcome.type !== 'interrupt') return []
  return listed(outcome.interrupts).flatMap((one): readonly AgUiEvent[] => {
    if (!isJsonObject(one)) return []
    const { message, reason, metadata } = one
    const asked = isJsonObject(metadata) ? metadata.payload : undefined
    const value = isJsonObject(asked) ? { ...defined({ message }), ...asked } : (asked ?? message ?? reason ?? '')
    return [{ type: 'CUSTOM', name: questionName, value: typeof value === 'string' ? value : print(value) }]
  })
}
const questionName = 'on_interrupt'

function messagesFor0x(messages: Json | undefined): Json {
  return listed(messages).map((message) => {
    if (!isJsonObject(message)) return message
    const { role, content } = message
    if (role === 'tool') return untag({ ...message, content: resultFor0x(content) })
    if (role === 'user' && Array.isArray(content)) return untag({ ...message, content: content.map(partFor0x) })
    return untag(message)
  })
}

/** In 0.x a tool's result is text only. */
function resultFor0x(content: Json | undefined): string {
  if (typeof content === 'string') return content
  const texts = listed(content).flatMap((part) => (isJsonObject(part) && part.type === 'text' ? [text(part.text)] : []))
  return texts.length > 0 ? texts.join('') : print(content)
}

/** `binary` is the only form of a file that all of 0.x reads. */
function partFor0x(part: Json): Json {
  if (!isJsonObject(part) || !isJsonObject(part.source)) return part
  const { type, value, mimeType } = part.source
  const field = type === 'data' ? 'data' : type === 'url' ? 'url' : 'id'
  return { type: 'binary', mimeType: typeof mimeType === 'string' ? mimeType : unknownType, [field]: text(value) }
}
const unknownType = 'application/octet-stream'

function untagged(event: AgUiEvent): AgUiEvent {
  if (event.subagentRunId === undefined) return event
  const { subagentRunId: _, ...rest } = event
  return { ...rest, type: event.type }
}

function untag({ subagentRunId: _, ...rest }: JsonObject): JsonObject {
  return rest
}

/** Facts without a field in 0.x go to the metadata, which its clients pass on or ignore. */
function noted(metadata: Json | undefined, note: JsonObject): JsonObject {
  const given = isJsonObject(metadata) ? metadata : {}
  return { ...given, millrace: { ...(isJsonObject(given.millrace) ? given.millrace : {}), ...note } }
}

function listed(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : []
}

function text(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}
