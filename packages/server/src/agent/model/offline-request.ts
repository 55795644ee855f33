import type { LlmRequest } from '@google/adk'
import { isObject, type JsonObject } from '@millrace/core'
import type { ModelBinding } from './binding.ts'
import type { OfflineRequest, OfflineResult } from './offline.ts'

/** Scripts search a question with regular expressions, so a very long one is cut. */
const longestQuestion = 10_000

type Content = LlmRequest['contents'][number]

/** ADK passes what other agents said as user text that begins like this; it does not come from the user. */
const contextMark = 'For context:'

/** ADK's model request in the form that scripts get. ADK strips call ids, so answers match by order. */
export function offlineRequest(request: LlmRequest, { agent, state }: ModelBinding): OfflineRequest {
  const { contents } = request
  const asked = contents.findLastIndex(isUserMessage)
  const results: OfflineResult[] = []
  const open: { name: string; args: JsonObject; step: number }[] = []
  let step = 0
  for (const content of contents.slice(asked + 1)) {
    for (const { functionCall, functionResponse } of content.parts ?? []) {
      if (functionCall?.name !== undefined) {
        open.push({ name: functionCall.name, args: jsonObject(functionCall.args), step })
      } else if (functionResponse?.name !== undefined) {
        const made = open.findIndex(({ name }) => name === functionResponse.name)
        const [from] = made < 0 ? [] : open.splice(made, 1)
        results.push({
          name: functionResponse.name,
          args: from?.args ?? {},
          response: jsonObject(functionResponse.response),
          step: from?.step ?? step,
        })
      }
    }
    if (content.role === 'model') step += 1
  }
  return {
    agent,
    user: textOf(contents[asked]).slice(0, longestQuestion),
    step,
    results,
    result: (tool) => results.findLast(({ name }) => name === tool)?.response,
    state,
    instruction: instructionOf(request),
    tools: Object.keys(request.toolsDict),
    history: contents
      .map((content) => ({
        role: content.role === 'model' ? ('model' as const) : ('user' as const),
        text: textOf(content),
      }))
      .filter(({ text }) => text !== ''),
  }
}

/** Everything that a model would read, as text, to count the prompt tokens. */
export function promptText(request: LlmRequest): string {
  const parts = request.contents.flatMap((content) => content.parts ?? [])
  const texts = parts.map(
    ({ text, functionCall, functionResponse }) =>
      text ?? JSON.stringify(functionCall?.args ?? functionResponse?.response ?? ''),
  )
  return [instructionOf(request), ...texts].join(' ')
}

function instructionOf(request: LlmRequest): string {
  const instruction = request.config?.systemInstruction
  return typeof instruction === 'string' ? instruction : ''
}

function isUserMessage(content: Content): boolean {
  const [first] = content.parts ?? []
  return content.role === 'user' && typeof first?.text === 'string' && first.text !== contextMark
}

function textOf(content: Content | undefined): string {
  return (content?.parts ?? []).map(({ text, thought }) => (thought === true ? '' : (text ?? ''))).join('')
}

/** ADK's values are JSON already; only their type is wider. */
function jsonObject(value: unknown): JsonObject {
  return isObject(value) ? (value as JsonObject) : {}
}
