import { defined, isObject, type Json, type JsonObject } from '@millrace/core'
import { langChainCall } from '../langchain-call.ts'
import { messageParts } from '../langchain-message.ts'
import { type TapedAnswer, withoutId } from '../model/tape.ts'
import { langChainUsage } from './chat-chunks.ts'
import type { LangChainCopy } from './langchain-copies.ts'
import { toJson } from './state-json.ts'

/** One answer of a chat model, whole or a piece of one: the class does not matter, because an author may bring a copy. */
export interface Generation {
  readonly message: object
  readonly text?: string
  readonly generationInfo?: unknown
}

interface Chunk extends Generation {
  concat(next: Chunk): Chunk
}

const common = ['id', 'name', 'content', 'additional_kwargs', 'response_metadata', 'usage_metadata'] as const
const ofMessage = [...common, 'tool_calls', 'invalid_tool_calls'] as const

/** What a chat model answered at once. */
export function answerOfMessage(generation: Generation, llmOutput: unknown): TapedAnswer {
  const message = fieldsOf(generation, ofMessage)
  return { ...summaryOf(generation), message: { ...message, ...defined({ llmOutput: filled(llmOutput) }) } }
}

/** Gathers what a chat model streams. */
export class ChunkKeeper {
  readonly #chunks: (string | JsonObject)[] = []
  #before: JsonObject = {}
  #whole: Chunk | undefined

  /** Reads the chunk at once, because the code that receives it next modifies it. */
  add(chunk: Generation): void {
    const fields = fieldsOf(chunk, hasCallChunks(chunk.message) ? [...common, 'tool_call_chunks'] : ofMessage)
    const changed = changesOf(this.#before, fields)
    const { content, ...others } = changed
    this.#chunks.push(typeof content === 'string' && Object.keys(others).length === 0 ? content : changed)
    this.#before = fields
    this.#whole = this.#whole === undefined ? (chunk as Chunk) : this.#whole.concat(chunk as Chunk)
  }

  /** A stream without any chunk is kept, too: LangChain reports it as an error. */
  answer(): TapedAnswer {
    return { ...(this.#whole === undefined ? { parts: [] } : summaryOf(this.#whole)), chunks: this.#chunks }
  }
}

/** The chunks of a recorded answer; one that was not streamed is a single chunk. */
export function* playedChunks(answer: TapedAnswer, copy: LangChainCopy): Generator<Generation> {
  if (answer.chunks === undefined) {
    const { fields, generationInfo } = wholeOf(answer)
    yield chunkOf(fields, generationInfo, copy)
    return
  }
  let fields: JsonObject = {}
  for (const chunk of answer.chunks) {
    fields = changed(fields, typeof chunk === 'string' ? { content: chunk } : chunk)
    const { generationInfo, ...own } = structuredClone(fields) as Record<string, Json>
    yield chunkOf(own, generationInfo, copy)
  }
}

/** A recorded answer as the result of a call that does not stream. */
export function playedMessage(
  answer: TapedAnswer,
  copy: LangChainCopy,
): { generations: Generation[]; llmOutput?: Json } {
  if (answer.chunks !== undefined) {
    let whole: Chunk | undefined
    for (const chunk of playedChunks(answer, copy))
      whole = whole === undefined ? (chunk as Chunk) : whole.concat(chunk as Chunk)
    return { generations: whole === undefined ? [] : [whole] }
  }
  const { fields, generationInfo, llmOutput } = wholeOf(answer)
  const message = new copy.AIMessage({ content: '', ...fields })
  const generation = { message, text: textOf(message), ...defined({ generationInfo }) }
  return { generations: [generation], ...defined({ llmOutput }) }
}

function chunkOf(fields: JsonObject, generationInfo: Json | undefined, copy: LangChainCopy): Generation {
  const message = new copy.AIMessageChunk({ content: '', ...fields })
  return new copy.ChatGenerationChunk({
    message,
    text: textOf(message),
    ...defined({ generationInfo }),
  }) as unknown as Generation
}

/** What a tape keeps of every answer, so that people can read it and any other model can play it. */
function summaryOf({ message, generationInfo }: Generation): TapedAnswer {
  const own: unknown = Reflect.get(message, 'response_metadata')
  // While a model streams, its metadata is still in `generationInfo`: LangChain moves it to the message later.
  const metadata = { ...(isObject(generationInfo) ? generationInfo : {}), ...(isObject(own) ? own : {}) }
  const {
    usage,
    model,
    finishReason: finish,
  } = langChainCall({
    usage_metadata: Reflect.get(message, 'usage_metadata'),
    response_metadata: metadata,
  })
  return {
    ...defined({ model }),
    parts: messageParts(message).parts.map((part) => withoutId(part as unknown as Json) as JsonObject),
    ...defined({ usage: usage as JsonObject | undefined, finish }),
  }
}

interface Whole {
  readonly fields: JsonObject
  readonly generationInfo?: Json
  readonly llmOutput?: Json
}

/** The message that was recorded; for an answer of another kind of model, or of a log, the one that its parts make. */
function wholeOf({ message, parts, usage, model, finish }: TapedAnswer): Whole {
  if (message !== undefined) {
    const { generationInfo, llmOutput, ...fields } = structuredClone(message) as Record<string, Json>
    return { fields, ...defined({ generationInfo, llmOutput }) }
  }
  const texts = (isThought: boolean): string =>
    parts
      .map(({ text, thought }) => ((thought === true) === isThought && typeof text === 'string' ? text : ''))
      .join('')
  const calls = parts.flatMap(({ functionCall }) => {
    if (!isObject(functionCall)) return []
    const { name = '', args = {} } = functionCall as JsonObject
    return [{ type: 'tool_call', id: `call-${crypto.randomUUID()}`, name, args }]
  })
  const thought = texts(true)
  return {
    fields: {
      content: texts(false),
      tool_calls: calls as Json,
      ...(thought === '' ? {} : { additional_kwargs: { reasoning_content: thought } }),
      response_metadata: defined({ model_name: model, finish_reason: finish }) as Json,
      ...(usage === undefined ? {} : { usage_metadata: langChainUsage(usage) }),
    },
  }
}

/** The fields of an answer that have a value. */
function fieldsOf({ message, generationInfo }: Generation, names: readonly string[]): JsonObject {
  const fields = names.map((name) => [name, filled(Reflect.get(message, name))] as const)
  return defined({ ...Object.fromEntries(fields), generationInfo: filled(generationInfo) }) as JsonObject
}

/** A value as JSON; undefined for null and for an empty object or list. */
function filled(value: unknown): Json | undefined {
  if (value === undefined || value === null) return undefined
  const plain = toJson(value)
  const isEmpty = typeof plain === 'object' && plain !== null && Object.keys(plain).length === 0
  return isEmpty ? undefined : plain
}

/** The fields that differ; null for one that is gone. */
function changesOf(before: JsonObject, after: JsonObject): JsonObject {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  const same = (name: string): boolean => JSON.stringify(before[name]) === JSON.stringify(after[name])
  return Object.fromEntries(names.filter((name) => !same(name)).map((name) => [name, after[name] ?? null]))
}

function changed(before: JsonObject, changes: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null))
}

const hasCallChunks = (message: object): boolean =>
  'tool_call_chunks' in message && Array.isArray(message.tool_call_chunks) && message.tool_call_chunks.length > 0

function textOf(message: object): string {
  return 'text' in message && typeof message.text === 'string' ? message.text : ''
}
