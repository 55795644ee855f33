import { isDeepStrictEqual } from 'node:util'
import type { BaseMessage } from '@langchain/core/messages'
import { type AdkPart, isObject } from '@millrace/core'
import type { ChangedPrompt } from '../changed-prompt.ts'
import { toldIn } from './graph-calls.ts'
import type { LangChainCopy } from './langchain-copies.ts'

type Changed = Pick<ChangedPrompt, 'system' | 'contents'>

/**
 * The messages of a model call, with the text that a person changed. A message with the same text stays the object that
 * the graph made, with everything that its provider put into it.
 */
export function changedMessages(
  given: BaseMessage[],
  { system, contents }: Changed,
  copy: LangChainCopy,
): BaseMessage[] {
  const isSystem = (message: BaseMessage): boolean => message.getType() === 'system'
  const said = given.filter((message) => !isSystem(message))
  const first = system === undefined ? given.filter(isSystem) : systemOf(system, copy)
  if (contents === undefined) return [...first, ...said]
  const known = toldIn([said], []).contents
  const rest = contents.map((content, at) => {
    const same = known.findIndex((each) => isDeepStrictEqual(each, content))
    return said[same] ?? messageOf(content, said[at], copy)
  })
  return [...first, ...rest]
}

function systemOf(text: string, copy: LangChainCopy): BaseMessage[] {
  return text === '' ? [] : [new copy.SystemMessage({ content: text }) as BaseMessage]
}

/** The message with these words. Images and files of the user stay: the record of a request has the words alone. */
function messageOf(content: unknown, before: BaseMessage | undefined, copy: LangChainCopy): BaseMessage {
  const { role, parts } = isObject(content) ? content : {}
  const all = Array.isArray(parts) ? (parts as AdkPart[]) : []
  const text = all.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join('')
  const answer = all.find(({ functionResponse }) => functionResponse !== undefined)?.functionResponse
  if (answer !== undefined) {
    const { id = '', name, response = {} } = answer
    const { result, ...more } = response
    const isText = typeof result === 'string' && Object.keys(more).length === 0
    return new copy.ToolMessage({
      tool_call_id: id,
      name,
      content: isText ? result : JSON.stringify(response),
    }) as BaseMessage
  }
  if (role === 'model') {
    const calls = all.flatMap(({ functionCall }) => functionCall ?? [])
    const toolCalls = calls.map(({ id, name, args = {} }) => ({ id, name, args, type: 'tool_call' }))
    return new copy.AIMessage({ content: text, tool_calls: toolCalls }) as BaseMessage
  }
  const blocks = before?.getType() === 'human' && Array.isArray(before.content) ? before.content : []
  const media = blocks.filter((block) => block.type !== 'text')
  return new copy.HumanMessage({
    content: media.length === 0 ? text : [{ type: 'text', text }, ...media],
  }) as BaseMessage
}
