import { createHash } from 'node:crypto'
import type { LlmRequest, LlmResponse } from '@google/adk'
import { defined, isObject, type Json, type JsonObject } from '@millrace/core'

/** Plays recorded answers instead of calling a model, or keeps what the model answers. */
export interface ModelTape {
  /** The answer to give; undefined lets the model answer, and `keep` then takes what it said. */
  play(call: TapedCall): TapedAnswer | undefined
  keep(call: TapedCall, answer: TapedAnswer): void
}

export interface TapedCall {
  /** The agent, or the node of a graph. */
  readonly agent: string
  readonly request: RequestPrint
  /** What each message of the request is, for people: `the answer of get_weather`. */
  readonly messages: readonly string[]
}

/** A short print of a model request: enough to see that it changed, and where. */
export interface RequestPrint {
  readonly instruction: string
  readonly tools: string
  /** One print for each message. */
  readonly contents: readonly string[]
  /** Words of the instruction and of the messages. */
  readonly words: number
}

/** What a model answered, without what differs each time. */
export interface TapedAnswer {
  readonly model?: string
  readonly parts: readonly JsonObject[]
  readonly usage?: JsonObject
  readonly finish?: string
  readonly error?: { readonly code: string; readonly message: string }
  /** The message of a chat model of LangChain, which may say more than the parts do. */
  readonly message?: JsonObject
  /** Instead of `message`, for a streamed answer: what each chunk changes in the one before. A string is new content alone. */
  readonly chunks?: readonly (string | JsonObject)[]
}

type Answers = AsyncGenerator<LlmResponse, void>

/** One model call with a tape: the recorded answer, or that of `ask`, which is then kept. */
export async function* taped(
  tape: ModelTape,
  agent: string,
  request: LlmRequest,
  stream: boolean,
  ask: () => Answers,
): Answers {
  const call = tapedCall(agent, request)
  const recorded = tape.play(call)
  if (recorded !== undefined) {
    yield* played(recorded, stream)
    return
  }
  const whole: LlmResponse[] = []
  for await (const answer of ask()) {
    if (answer.partial !== true) whole.push(answer)
    yield answer
  }
  // A call that was stopped has no whole answer.
  if (whole.length > 0) tape.keep(call, answerOf(whole))
}

/** A request as a tape compares it. */
export function tapedCall(agent: string, request: Pick<LlmRequest, 'contents' | 'config'>): TapedCall {
  return { agent, request: printOf(request), messages: request.contents.map(nameOf) }
}

function* played({ model, parts, usage, finish, error }: TapedAnswer, stream: boolean): Generator<LlmResponse> {
  const more = defined({ modelVersion: model, usageMetadata: usage, finishReason: finish })
  if (error !== undefined) {
    yield { errorCode: error.code, errorMessage: error.message, ...more } as LlmResponse
    return
  }
  for (const part of stream ? parts : []) {
    if (typeof part.text === 'string' && part.text !== '')
      yield { content: { role: 'model', parts: [part] }, partial: true } as LlmResponse
  }
  // ADK gives each call an id, in the part itself: the recording must not get it.
  const said = parts.length === 0 ? {} : { content: { role: 'model', parts: structuredClone(parts) } }
  yield { ...said, ...more } as LlmResponse
}

function answerOf(whole: readonly LlmResponse[]): TapedAnswer {
  const last = whole.at(-1)
  const failed = whole.find(({ errorCode }) => errorCode !== undefined)
  const parts = whole.flatMap(({ content }) => content?.parts ?? []).map((part) => withoutId(plain(part)))
  return {
    ...defined({ model: last?.modelVersion }),
    parts: parts as readonly JsonObject[],
    ...(last?.usageMetadata === undefined ? {} : { usage: plain(last.usageMetadata) as JsonObject }),
    ...(last?.finishReason === undefined ? {} : { finish: String(last.finishReason) }),
    ...(failed === undefined
      ? {}
      : { error: { code: failed.errorCode ?? '', message: failed.errorMessage ?? failed.errorCode ?? '' } }),
  }
}

function printOf({ contents, config }: Pick<LlmRequest, 'contents' | 'config'>): RequestPrint {
  const instruction = config?.systemInstruction ?? ''
  const messages = contents.map(({ role, parts }) => JSON.stringify([role, (parts ?? []).map(bare)]))
  return {
    instruction: hash(JSON.stringify(instruction)),
    tools: hash(JSON.stringify(plain(config?.tools ?? []))),
    contents: messages.map((text) => hash(text).slice(0, 8)),
    words: [JSON.stringify(instruction), ...messages].reduce((sum, text) => sum + text.split(/\s+/).length, 0),
  }
}

/** A part without ids, which differ each time, and with the keys of its values in one order. */
function bare(part: object): Json {
  return keysSorted(withoutId(plain(part)))
}

/** A part without the id of its call, which differs each time. */
export function withoutId(part: Json): Json {
  if (!isObject(part)) return part
  const { functionCall, functionResponse, ...rest } = part as Record<string, Json>
  const strip = (value: Json | undefined): Json | undefined => {
    if (!isObject(value)) return value
    const { id: _, ...more } = value as Record<string, Json>
    return more
  }
  return defined({ ...rest, functionCall: strip(functionCall), functionResponse: strip(functionResponse) }) as Json
}

/** Keys in one order: two values that differ only in the order of their keys are the same. */
export function keysSorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(keysSorted)
  if (!isObject(value)) return value
  const entries = Object.entries(value as JsonObject).map(([key, field]) => [key, keysSorted(field)] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function nameOf({ role, parts = [] }: LlmRequest['contents'][number]): string {
  const answer = parts.find(({ functionResponse }) => functionResponse !== undefined)?.functionResponse?.name
  if (answer !== undefined) return `the answer of ${answer}`
  const call = parts.find(({ functionCall }) => functionCall !== undefined)?.functionCall?.name
  if (call !== undefined) return `the call of ${call}`
  return role === 'model' ? 'what the model said before' : 'what it was asked'
}

const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)
