import { AsyncLocalStorage } from 'node:async_hooks'
import type { LlmRequest } from '@google/adk'
import type { BaseMessage } from '@langchain/core/messages'
import { isObject } from '@millrace/core'
import { type ModelTape, type TapedAnswer, type TapedCall, tapedCall } from '../model/tape.ts'
import { messageOf } from '../problem.ts'
import { changedMessages } from './changed-messages.ts'
import { chatRequest } from './chat-request.ts'
import { type LangChainCopy, langChainCopies } from './langchain-copies.ts'
import { runBinding } from './run-binding.ts'
import { toJson } from './state-json.ts'
import { answerOfMessage, ChunkKeeper, type Generation, playedChunks, playedMessage } from './taped-chat.ts'

/** The methods of a chat model that LangChain's BaseChatModel calls. */
interface ChatModel {
  _llmType(): string
  invocationParams?(options: CallOptions): unknown
  _generate: Generate
  _streamResponseChunks: Stream
  _streamChatModelEvents?: (...args: never[]) => unknown
}
type Generate = (messages: BaseMessage[], options: CallOptions, run?: RunManager) => Promise<Result>
type Stream = (messages: BaseMessage[], options: CallOptions, run?: RunManager) => AsyncGenerator<Generation>

interface CallOptions {
  readonly signal?: AbortSignal
  readonly tools?: readonly unknown[]
}
interface RunManager {
  readonly runId?: string
  handleLLMNewToken?(
    text: string,
    at: undefined,
    run: undefined,
    parent: undefined,
    tags: undefined,
    fields: { readonly chunk: Generation },
  ): Promise<void>
}
interface Result {
  readonly generations: readonly Generation[]
  readonly llmOutput?: unknown
}

const hooked = new WeakSet<object>()
const taped = new WeakSet<object>()
/** Set while a model whose answer is kept is being called: the calls that it makes itself are part of that answer. */
const asking = new AsyncLocalStorage<true>()

/**
 * Reaches the chat models that a graph makes itself, such as `new ChatOpenAI()` or `initChatModel(…)`: recorded runs play
 * and keep their answers, and a run with a changed request sends it. LangChain has no way to answer in place of a model or
 * to change its request, so the methods by which BaseChatModel calls a model are replaced, in each copy of the library
 * that the file can use. Without a tape and a change a model is called as before.
 */
export async function hookChatModels(file: string): Promise<void> {
  for (const copy of await langChainCopies(file)) hook(copy)
}

/** A model is known when it is first called: its class may be loaded later, and its own methods come before the base's. */
function hook(copy: LangChainCopy): void {
  const base = copy.BaseChatModel.prototype
  if (hooked.has(base)) return
  hooked.add(base)
  for (const name of ['_generateUncached', '_streamIterator', 'streamEvents']) {
    const method: unknown = Reflect.get(base, name)
    if (typeof method !== 'function') continue
    const replaced = function (this: ChatModel, ...args: unknown[]): unknown {
      tapeModel(this, base as ChatModel, copy)
      return method.apply(this, args)
    }
    Object.defineProperty(base, name, { value: replaced, writable: true, configurable: true })
  }
}

function tapeModel(model: ChatModel, base: ChatModel, copy: LangChainCopy): void {
  // Millrace's own chat model has the tape of all its models.
  if (taped.has(model) || model._llmType() === 'millrace') return
  taped.add(model)
  const generate = model._generate.bind(model)
  const stream = model._streamResponseChunks.bind(model)
  const replace = (name: keyof ChatModel, value: unknown): void =>
    void Object.defineProperty(model, name, { value, writable: true, configurable: true })
  replace('_generate', tapedGenerate(model, generate, copy))
  // A model that does not stream has the base's method, and LangChain sees that by comparing the two.
  if (model._streamResponseChunks === base._streamResponseChunks) return
  replace('_streamResponseChunks', tapedStream(model, stream, copy))
  const events = model._streamChatModelEvents?.bind(model)
  const ofChunks = base._streamChatModelEvents
  if (events === undefined || ofChunks === undefined) return
  // The base makes its events from the chunks above.
  replace('_streamChatModelEvents', (...args: never[]) =>
    tapeNow() === undefined && runBinding().prompt?.isOpen !== true ? events(...args) : ofChunks.apply(model, args),
  )
}

function tapedGenerate(model: ChatModel, generate: Generate, copy: LangChainCopy): Generate {
  return async (given, options, run) => {
    const messages = sentMessages(given, run, copy)
    const tape = tapeNow()
    if (tape === undefined) return generate(messages, options, run)
    const call = callOf(model, messages, options)
    const recorded = tape.play(call)
    if (recorded !== undefined) return playedMessage(sound(recorded), copy)
    try {
      const result = await asking.run(true, () => generate(messages, options, run))
      const [first] = result.generations
      if (first !== undefined) tape.keep(call, answerOfMessage(first, result.llmOutput))
      return result
    } catch (error) {
      keepError(tape, call, error, options)
      throw error
    }
  }
}

function tapedStream(model: ChatModel, stream: Stream, copy: LangChainCopy): Stream {
  return async function* (given, options, run) {
    const messages = sentMessages(given, run, copy)
    const tape = tapeNow()
    if (tape === undefined) {
      yield* stream(messages, options, run)
      return
    }
    const call = callOf(model, messages, options)
    const recorded = tape.play(call)
    if (recorded !== undefined) {
      for (const chunk of playedChunks(sound(recorded), copy)) {
        yield chunk
        await run?.handleLLMNewToken?.(chunk.text ?? '', undefined, undefined, undefined, undefined, { chunk })
      }
      return
    }
    const kept = new ChunkKeeper()
    const chunks = asking.run(true, () => stream(messages, options, run))
    try {
      for (;;) {
        // The code of a generator runs in the context of the one that asks for its next value.
        const next = await asking.run(true, () => chunks.next())
        if (next.done === true) break
        kept.add(next.value)
        yield next.value
      }
    } catch (error) {
      keepError(tape, call, error, options)
      throw error
    } finally {
      // After the last one this does nothing; a reader that leaves earlier ends the call.
      await chunks.return(undefined)
    }
    tape.keep(call, kept.answer())
  }
}

/** The messages of a call, with the text that a person changed. */
function sentMessages(given: BaseMessage[], run: RunManager | undefined, copy: LangChainCopy): BaseMessage[] {
  const changed = runBinding().prompt?.take(run?.runId)
  return changed === undefined ? given : changedMessages(given, changed, copy)
}

/** The tape of the run that a call is made in; undefined for a call that a model makes as part of its own answer. */
function tapeNow(): ModelTape | undefined {
  return asking.getStore() === true ? undefined : runBinding().settings.tape
}

function callOf(model: ChatModel, messages: BaseMessage[], options: CallOptions): TapedCall {
  const request = chatRequest(messages, {})
  const tools = toolsOf(model, options)
  const config = tools.length === 0 ? request.config : { ...request.config, tools }
  return tapedCall(runBinding().agent, { contents: request.contents, config } as LlmRequest)
}

/** The tools in the form that the provider receives. */
function toolsOf(model: ChatModel, options: CallOptions): readonly unknown[] {
  const sent = model.invocationParams?.(options)
  const params = isObject(sent) ? sent : {}
  const tools = [params.tools, params.functions, options.tools].find(Array.isArray) ?? []
  return tools.map((tool) => toJson(tool))
}

/** A recorded error happens again. */
function sound(answer: TapedAnswer): TapedAnswer {
  if (answer.error === undefined) return answer
  throw Object.assign(new Error(answer.error.message), { name: answer.error.code })
}

/** A call that was stopped has no answer. */
function keepError(tape: ModelTape, call: TapedCall, error: unknown, { signal }: CallOptions): void {
  if (signal?.aborted === true) return
  const code = error instanceof Error ? error.name : 'Error'
  tape.keep(call, { parts: [], error: { code, message: messageOf(error) } })
}
