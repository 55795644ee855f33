import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from '@langchain/core/language_models/chat_models'
import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import type { Runnable } from '@langchain/core/runnables'
import { MillraceError } from '@millrace/core'
import { bindRequest } from '../model/binding.ts'
import { ChosenLlm } from '../model/model.ts'
import type { OfflineScript } from '../model/offline.ts'
import type { ModelChoice, ModelSettings } from '../model/settings.ts'
import { lastChunk, partialChunk } from './chat-chunks.ts'
import { chatRequest } from './chat-request.ts'
import { noteChatModel } from './graph-model.ts'
import { record } from './record.ts'
import { runBinding } from './run-binding.ts'

export interface ChatModelOptions {
  /** `gemini-…`, `claude-…`, `openai:<model>` or `offline`; without it, MILLRACE_MODEL or whichever key is set. */
  readonly name?: string
  /** The script of the offline model, by graph node. */
  readonly offline?: OfflineScript
}

export interface ChatCallOptions extends BaseChatModelCallOptions {
  readonly tools?: readonly BindToolsInput[]
}

/** Millrace's models as a LangChain chat model, for graphs: with the same settings and the same offline scripts. */
export function chatModel(options: ChatModelOptions = {}): BaseChatModel<ChatCallOptions> {
  return new MillraceChatModel(options)
}

class MillraceChatModel extends BaseChatModel<ChatCallOptions> {
  readonly #llm: ChosenLlm
  constructor(options: ChatModelOptions) {
    super({})
    this.#llm = new ChosenLlm(options)
    noteChatModel((settings) => this.choose(settings))
  }
  choose(settings: ModelSettings): ModelChoice {
    return this.#llm.choose(settings)
  }
  override _llmType(): string {
    return 'millrace'
  }
  override bindTools(
    tools: BindToolsInput[],
    kwargs?: Partial<ChatCallOptions>,
  ): Runnable<never, AIMessageChunk, ChatCallOptions> {
    return this.withConfig({ ...kwargs, tools } as Partial<ChatCallOptions>) as never
  }

  /** What LangChain tells its handlers of a call: the model that will answer, and the tools that it is offered. */
  override invocationParams(options?: this['ParsedCallOptions']): Record<string, unknown> {
    const { config } = chatRequest([], options ?? {})
    const [{ functionDeclarations: tools = [] } = {}] = (config?.tools ?? []) as { functionDeclarations?: unknown[] }[]
    return { model: this.choose(runBinding().settings).name, tools }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const request = chatRequest(messages, options)
    const { settings, agent, config, prompt } = runBinding()
    prompt?.apply(runManager?.runId, request)
    const reports: string[] = []
    bindRequest(request, { settings, agent, state: {}, report: (message) => reports.push(message) })
    let spoke = false
    for await (const answer of this.#llm.generateContentAsync(request, true, options.signal)) {
      for (const message of reports.splice(0)) await record({ kind: 'log', level: 'warn', message }, config)
      if (answer.errorCode !== undefined) {
        throw new MillraceError('model-error', answer.errorMessage ?? answer.errorCode, { source: answer.errorCode })
      }
      spoke ||= (answer.content?.parts ?? []).some(({ text = '', functionCall }) => text !== '' || functionCall)
      const message = answer.partial === true ? partialChunk(answer) : lastChunk(answer)
      if (message === undefined) continue
      const chunk = new ChatGenerationChunk({ text: message.text, message })
      yield chunk
      await runManager?.handleLLMNewToken(message.text, undefined, undefined, undefined, undefined, { chunk })
    }
    if (!spoke) throw new MillraceError('model-error', `The model of '${agent}' gave an empty answer.`)
  }

  override async _generate(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined
    for await (const chunk of this._streamResponseChunks(messages, options, runManager))
      whole = whole === undefined ? chunk : whole.concat(chunk)
    if (whole === undefined) throw new MillraceError('model-error', 'the model gave an empty answer')
    return { generations: [whole] }
  }
}
