import type { AdkEvent, AdkFunctionCall, AdkPart } from '../../event/adk-event.ts'
import { callOf, responseOf, textOf } from '../../event/parts.ts'
import type { AgentSaid, InputMessage, Recorded } from '../../event/run-event.ts'
import { isObject } from '../../json/json.ts'
import type { Message, Part, TextPart, ToolCard } from './item.ts'

const nothing: readonly Part[] = []

/** A message at its first event, still without content. */
export function begun(row: Recorded, said: AgentSaid, key: string): Message {
  const { author, branch } = said.event
  return {
    kind: 'message',
    key,
    id: said.message,
    run: row.run,
    author,
    role: author === 'user' ? 'user' : 'assistant',
    text: '',
    thoughts: '',
    parts: nothing,
    status: 'streaming',
    whole: 0,
    seq: row.seq,
    at: row.at,
    node: said.node,
    branch: typeof branch === 'string' && branch !== '' ? branch : undefined,
    task: said.task,
    endSeq: undefined,
    endedAt: undefined,
    eventId: undefined,
    finishReason: undefined,
    error: undefined,
    superseded: undefined,
  }
}

/** A message from the input of a run. */
export function given(
  row: Recorded,
  { id, role }: InputMessage,
  parts: readonly Part[],
  key: string,
  agent: string,
): Message {
  return {
    kind: 'message',
    key,
    id,
    run: row.run,
    author: role === 'assistant' ? agent : role,
    role,
    text: textOfParts(parts, 'text'),
    thoughts: textOfParts(parts, 'thought'),
    parts,
    status: 'done',
    whole: parts.length,
    seq: row.seq,
    at: row.at,
    endSeq: row.seq,
    endedAt: row.at,
    eventId: id,
    node: undefined,
    branch: undefined,
    task: undefined,
    finishReason: undefined,
    error: undefined,
    superseded: undefined,
  }
}

/** The message with the deltas of one partial. Only text streams: a partial function call is not yet a call. */
export function streamed(message: Message, deltas: readonly AdkPart[]): Message {
  let next = message
  for (const part of deltas) {
    const text = textOf(part)
    if (text !== '') next = part.thought === true ? withThought(next, text) : withText(next, text)
  }
  return next
}

function withText(message: Message, delta: string): Message {
  const last = growing(message, 'text')
  const text = last === undefined ? delta : last.text + delta
  const parts = withLast(message, last, { kind: 'text', text })
  return saying(message, parts, soFar(message.text, last, text, delta), message.thoughts)
}

function withThought(message: Message, delta: string): Message {
  const last = growing(message, 'thought')
  const text = last === undefined ? delta : last.text + delta
  const parts = withLast(message, last, { kind: 'thought', text })
  return saying(message, parts, message.text, soFar(message.thoughts, last, text, delta))
}

/** Every token of every stream makes one of these: field by field, for the reason in item.ts. */
function saying(message: Message, parts: readonly Part[], text: string, thoughts: string): Message {
  return {
    kind: 'message',
    key: message.key,
    id: message.id,
    run: message.run,
    author: message.author,
    role: message.role,
    text,
    thoughts,
    parts,
    status: message.status,
    whole: message.whole,
    seq: message.seq,
    at: message.at,
    node: message.node,
    branch: message.branch,
    task: message.task,
    endSeq: message.endSeq,
    endedAt: message.endedAt,
    eventId: message.eventId,
    finishReason: message.finishReason,
    error: message.error,
    superseded: message.superseded,
  }
}

/** The part that the next delta of this kind extends. */
function growing({ parts, whole }: Message, kind: TextPart['kind']): TextPart | undefined {
  const last = parts.length > whole ? parts[parts.length - 1] : undefined
  return last?.kind === kind ? last : undefined
}

function withLast({ parts }: Message, last: TextPart | undefined, part: TextPart): readonly Part[] {
  if (last === undefined) return [...parts, part]
  return parts.length === 1 ? [part] : parts.with(-1, part)
}

/** In nearly every message one part is the whole text: then both share one string, which V8 flattens once. */
function soFar(before: string, last: TextPart | undefined, text: string, delta: string): string {
  return before.length === (last?.text.length ?? 0) ? text : before + delta
}

/**
 * The message after a whole event. Text replaces what was streamed; an event without text (calls alone, or only the end)
 * leaves it: see event/streaming.ts.
 */
export function completed(message: Message, parts: readonly Part[], row: Recorded, event: AdkEvent): Message {
  const again = repeats(message, parts, event.id)
  const fresh = again ? parts.filter((part) => part.kind === 'tool') : parts
  const speaks = fresh.some((part) => part.kind === 'text' || part.kind === 'thought')
  const before = speaks && message.whole < message.parts.length ? message.parts.slice(0, message.whole) : message.parts
  const all = gathered(before, fresh)
  // Whole parts are not read again: an id that comes 10,000 times with different texts must not cost quadratic time.
  const said =
    before === message.parts ? message : { text: textOfParts(before, 'text'), thoughts: textOfParts(before, 'thought') }
  return {
    ...message,
    parts: all,
    text: joined(said.text, textOfParts(fresh, 'text')),
    thoughts: joined(said.thoughts, textOfParts(fresh, 'thought')),
    status: 'done',
    whole: all.length,
    endSeq: row.seq,
    endedAt: row.at,
    eventId: event.id,
    error: errorOf(event) ?? message.error,
    finishReason: finishOf(event) ?? message.finishReason,
  }
}

/** A message with more parts than this extends its last one, because the list is copied with every whole event. */
const crowded = 256

function gathered(before: readonly Part[], fresh: readonly Part[]): readonly Part[] {
  const [last, first] = [before.at(-1), fresh[0]]
  const goesOn = before.length >= crowded && (first?.kind === 'text' || first?.kind === 'thought')
  if (!goesOn || last?.kind !== first.kind) return [...before, ...fresh]
  return [...before.slice(0, -1), { kind: first.kind, text: last.text + first.text }, ...fresh.slice(1)]
}

function finishOf({ finishReason }: AdkEvent): string | undefined {
  return isText(finishReason) && finishReason !== 'STOP' ? finishReason : undefined
}

/** Whether the same whole event was delivered twice: a proxy's retry, a reader that parsed its buffer again, a user's echo. */
function repeats(message: Message, parts: readonly Part[], event: string): boolean {
  if (message.status !== 'done' || (message.eventId !== event && message.role !== 'user')) return false
  return textOfParts(parts, 'text') === message.text && textOfParts(parts, 'thought') === message.thoughts
}

/**
 * The parts of a whole event in order, with adjacent text of one kind as one part. `card` makes the card of a call; it
 * returns undefined if the call has one already.
 */
export function assembled(
  parts: readonly AdkPart[],
  card: (call: AdkFunctionCall, index: number) => ToolCard | undefined,
): readonly Part[] {
  const made: Part[] = []
  for (const [index, part] of parts.entries()) {
    const call = callOf(part)
    const next = call === undefined ? spokenPart(part) : card(call, index)
    if (next === undefined) continue
    const last = made.at(-1)
    if ((next.kind === 'text' || next.kind === 'thought') && last?.kind === next.kind) {
      made[made.length - 1] = { kind: next.kind, text: last.text + next.text }
    } else made.push(next)
  }
  return made
}

function spokenPart(part: AdkPart): Part | undefined {
  const text = textOf(part)
  if (text !== '') return { kind: part.thought === true ? 'thought' : 'text', text }
  const { inlineData, fileData, executableCode, codeExecutionResult } = part
  if (isObject(inlineData)) return file(inlineData.mimeType, inlineData.data, undefined, inlineData.displayName)
  if (isObject(fileData)) return file(fileData.mimeType, undefined, fileData.fileUri, fileData.displayName)
  if (isObject(executableCode)) {
    const { code, language } = executableCode
    return { kind: 'code', code: isText(code) ? code : '', ...(isText(language) ? { language } : {}) }
  }
  if (isObject(codeExecutionResult)) {
    const { outcome, output } = codeExecutionResult
    return {
      kind: 'code-result',
      ...(isText(outcome) ? { outcome } : {}),
      ...(isText(output) ? { output } : {}),
    }
  }
  if (responseOf(part) !== undefined) return undefined
  const empty = Object.keys(part).every((key) => key === 'text' || key === 'thought' || key === 'thoughtSignature')
  return empty ? undefined : { kind: 'other', part }
}

function file(mimeType: unknown, data: unknown, uri: unknown, name: unknown): Part {
  return {
    kind: 'file',
    ...(isText(mimeType) ? { mimeType } : {}),
    ...(isText(data) ? { data } : {}),
    ...(isText(uri) ? { uri } : {}),
    ...(isText(name) ? { name } : {}),
  }
}

function errorOf(event: AdkEvent): Message['error'] {
  const { errorCode, errorMessage } = event
  if (!isText(errorCode) && !isText(errorMessage)) return undefined
  return {
    message: isText(errorMessage) ? errorMessage : String(errorCode),
    ...(isText(errorCode) ? { code: errorCode } : {}),
  }
}

function textOfParts(parts: readonly Part[], kind: TextPart['kind']): string {
  let text = ''
  for (const part of parts) if (part.kind === kind) text = joined(text, part.text)
  return text
}

/** `'' + text` would be a new string; this shares the string of the part. */
function joined(before: string, text: string): string {
  return before === '' ? text : text === '' ? before : before + text
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
