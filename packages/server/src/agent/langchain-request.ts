import { type AdkContent, defined, isObject } from '@millrace/core'
import { messageParts, toolAnswer } from './langchain-message.ts'
import type { RequestWords } from './request-writer.ts'

/** The request of a model call. LangChain gives a list of lists, one for each prompt of a batch. */
export function langChainRequest(input: unknown): RequestWords {
  const given = isObject(input) ? input.messages : input
  const messages: readonly unknown[] = Array.isArray(given) ? given.flat() : []
  const names = new Map<string, string>()
  const system: string[] = []
  const contents: AdkContent[] = []
  for (const message of messages) {
    const { type, parts } = messageParts(message)
    for (const { functionCall } of parts)
      if (functionCall?.id !== undefined) names.set(functionCall.id, functionCall.name)
    if (type === 'system') system.push(parts.map(({ text = '' }) => text).join(''))
    else if (type === 'tool') contents.push(answerOf(message, names))
    else contents.push({ role: type === 'ai' ? 'model' : 'user', parts })
  }
  return { contents, ...(system.length === 0 ? {} : { system: system.join('\n\n') }) }
}

function answerOf(message: unknown, names: ReadonlyMap<string, string>): AdkContent {
  const { id, response } = toolAnswer(message)
  const own = isObject(message) && typeof message.name === 'string' ? message.name : undefined
  const name = own ?? names.get(id ?? '') ?? ''
  return { role: 'user', parts: [{ functionResponse: { ...defined({ id }), name, response } }] }
}
