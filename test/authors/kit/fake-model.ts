import { BaseChatModel, type BaseChatModelParams } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'

/** What a model answers: text, calls of tools, or both. */
export interface Reply {
  readonly text?: string
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: Record<string, unknown> }[]
}

/** A chat model of LangChain's kind without a network: the conversation alone decides its answer. It streams words. */
export class FakeModel extends BaseChatModel {
  readonly #reply: (messages: readonly BaseMessage[]) => Reply

  constructor(reply: (messages: readonly BaseMessage[]) => Reply, params: BaseChatModelParams = {}) {
    super(params)
    this.#reply = reply
  }

  _llmType(): string {
    return 'fake'
  }

  override bindTools(): this {
    return this
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const { text = '', calls = [] } = this.#reply(messages)
    const tool_calls = calls.map((call) => ({ ...call, type: 'tool_call' as const }))
    return { generations: [{ text, message: new AIMessage({ content: text, tool_calls }) }] }
  }

  override async *_streamResponseChunks(messages: BaseMessage[]): AsyncGenerator<ChatGenerationChunk> {
    const { text = '', calls = [] } = this.#reply(messages)
    for (const word of text.match(/\S+\s*/g) ?? []) {
      yield new ChatGenerationChunk({ text: word, message: new AIMessageChunk({ content: word }) })
    }
    const tool_call_chunks = calls.map(({ id, name, args }, index) => ({
      ...{ id, name, index, args: JSON.stringify(args) },
      type: 'tool_call_chunk' as const,
    }))
    if (calls.length === 0) return
    yield new ChatGenerationChunk({ text: '', message: new AIMessageChunk({ content: '', tool_call_chunks }) })
  }
}

/** The text of the last message. */
export function lastText(messages: readonly BaseMessage[]): string {
  return String(messages.at(-1)?.text ?? '')
}
