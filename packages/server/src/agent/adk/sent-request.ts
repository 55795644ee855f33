import type { LlmRequest } from '@google/adk'

/**
 * A model request as JSON text, for people who look at a call: the fields that ADK's own traces show. Bytes of files and the
 * schema of the answer are left out, as there. Undefined where a callback put in what is not JSON.
 */
export function sentRequest({ model, contents, config }: LlmRequest): string | undefined {
  const { responseSchema: _schema, abortSignal: _signal, httpOptions: _options, ...sent } = config ?? {}
  const shown = contents.map(({ role, parts = [] }) => ({
    role,
    parts: parts.filter(({ inlineData }) => inlineData === undefined),
  }))
  try {
    return JSON.stringify({ model, contents: shown, config: sent })
  } catch {
    return undefined
  }
}
