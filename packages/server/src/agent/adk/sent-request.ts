import type { LlmRequest } from '@google/adk'
import type { AdkContent, Json, JsonObject } from '@millrace/core'
import type { RequestWords } from '../request-writer.ts'

/** What a model is told by this request. */
export function wordsOf({ contents, config }: LlmRequest): RequestWords {
  const { systemInstruction, tools } = config ?? {}
  return {
    contents: contents as unknown as readonly AdkContent[],
    ...(systemInstruction === undefined ? {} : { system: systemInstruction as unknown as Json }),
    ...(tools === undefined || tools.length === 0 ? {} : { tools: tools as unknown as Json }),
  }
}

/** The other settings of the request. How it is sent is left out: its headers may have keys. */
export function parametersOf({ config }: LlmRequest): JsonObject | undefined {
  const {
    systemInstruction: _system,
    tools: _tools,
    abortSignal: _signal,
    httpOptions: _options,
    labels: _labels,
    ...parameters
  } = config ?? {}
  try {
    const plain = JSON.parse(JSON.stringify(parameters)) as JsonObject
    return Object.keys(plain).length === 0 ? undefined : plain
  } catch {
    return undefined
  }
}
