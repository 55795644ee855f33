import type { LlmRequest } from '@google/adk'
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import type { Runnable } from '@langchain/core/runnables'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { getConfig } from '@langchain/langgraph'
import { isObject, MillraceError } from '@millrace/core'
import { bindRequest } from '../model/binding.ts'
import { model } from '../model/model.ts'
import type { OfflineScript } from '../model/offline.ts'
import type { ModelSettings } from '../model/settings.ts'
import { messageParts } from './message-parts.ts'

export interface ChatModelOptions {
  /** `gemini-…`, `openai:<model>` or `offline`; without it, whichever key is set. */
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
  readonly #llm: ReturnType<typeof model>
  constructor(options: ChatModelOptions) {
    super({})
    this.#llm = model(options)
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

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const request = requestOf(messages, options.tools ?? [])
    const bound = binding()
    bindRequest(request, bound)
    let spoke = false
    for await (const answer of this.#llm.generateContentAsync(request, true, options.signal)) {
      if (answer.errorCode !== undefined) {
        throw new MillraceError('model-error', answer.errorMessage ?? answer.errorCode, { source: answer.errorCode })
      }
      const parts = answer.content?.parts ?? []
      spoke ||= parts.some(({ text = '', functionCall }) => text !== '' || functionCall !== undefined)
      const said =
        answer.partial === true
          ? parts.flatMap((part) => (part.thought === true ? [] : [part.text ?? ''])).join('')
          : ''
      const calls = answer.partial === true ? [] : parts.flatMap((part, index) => callChunk(part.functionCall, index))
      if (said === '' && calls.length === 0 && answer.usageMetadata === undefined) continue
      const usage = answer.usageMetadata
      const message = new AIMessageChunk({ content: said, tool_call_chunks: calls })
      if (usage !== undefined) {
        const { promptTokenCount = 0, candidatesTokenCount = 0, totalTokenCount = 0 } = usage
        Object.assign(message, {
          usage_metadata: {
            input_tokens: promptTokenCount,
            output_tokens: candidatesTokenCount,
            total_tokens: totalTokenCount,
          },
        })
      }
      const chunk = new ChatGenerationChunk({ text: said, message })
      yield chunk
      await runManager?.handleLLMNewToken(said, undefined, undefined, undefined, undefined, { chunk })
    }
    if (!spoke) throw new MillraceError('model-error', `The model of '${bound.agent}' gave an empty answer.`)
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

function callChunk(call: { id?: string; name?: string; args?: unknown } | undefined, index: number) {
  if (call?.name === undefined) return []
  return [
    {
      type: 'tool_call_chunk' as const,
      index,
      id: call.id ?? `${call.name}-${index}-${crypto.randomUUID()}`,
      name: call.name,
      args: JSON.stringify(call.args ?? {}),
    },
  ]
}

/** The model settings and the node: the graph's own configuration carries both. */
function binding() {
  const config = getConfig() as
    | { configurable?: Record<string, unknown>; metadata?: Record<string, unknown> }
    | undefined
  const given = config?.configurable?.millrace
  const models = isObject(given) && isObject(given.models) ? (given.models as ModelSettings) : {}
  return { settings: models, agent: String(config?.metadata?.langgraph_node ?? ''), state: {} }
}

function requestOf(messages: readonly BaseMessage[], tools: readonly BindToolsInput[]): LlmRequest {
  const system = messages.filter((message) => message.getType() === 'system').map((message) => message.text)
  const contents = messages.filter((message) => message.getType() !== 'system').map(contentOf)
  const declarations = tools.map((tool) => {
    const { function: declared } = convertToOpenAITool(tool as never)
    return { name: declared.name, description: declared.description ?? '', parametersJsonSchema: declared.parameters }
  })
  return {
    contents,
    config: {
      ...(system.length === 0 ? {} : { systemInstruction: system.join('\n\n') }),
      ...(declarations.length === 0 ? {} : { tools: [{ functionDeclarations: declarations }] }),
    },
    liveConnectConfig: {},
    toolsDict: {},
  } as unknown as LlmRequest
}

function contentOf(message: BaseMessage) {
  if (message.getType() === 'tool') {
    const { tool_call_id: id, name, content } = message as BaseMessage & { tool_call_id?: string }
    return { role: 'user', parts: [{ functionResponse: { id, name: name ?? '', response: responseOf(content) } }] }
  }
  return { role: message.getType() === 'ai' ? 'model' : 'user', parts: [...messageParts(message).parts] }
}

function responseOf(content: unknown): object {
  try {
    const value: unknown = typeof content === 'string' ? JSON.parse(content) : content
    return isObject(value) ? value : { result: value }
  } catch {
    return { result: content }
  }
}
