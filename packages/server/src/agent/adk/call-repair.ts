import type { LlmRequest } from '@google/adk'
import { defined } from '@millrace/core'

type Contents = LlmRequest['contents']

/**
 * Adds an error response to each call without one. A run that was cancelled, crashed or never answered leaves such calls,
 * and every vendor refuses a history that has them. ADK strips call ids, so answers match by name and order.
 */
export function answerOpenCalls(contents: Contents): void {
  for (let i = 0; i < contents.length; i++) {
    const calls = (contents[i]?.parts ?? []).flatMap(({ functionCall }) => functionCall ?? [])
    if (calls.length === 0) continue
    const next = contents[i + 1]
    const responses = (next?.parts ?? []).flatMap(({ functionResponse }) => functionResponse ?? [])
    const open = calls.filter((call) => {
      const at = responses.findIndex(({ name, id }) => name === call.name && id === call.id)
      if (at >= 0) responses.splice(at, 1)
      return at < 0
    })
    if (open.length === 0) continue
    const parts = open.map(({ id, name }) => ({
      functionResponse: {
        ...defined({ id, name }),
        response: { error: 'There was no answer.' },
      },
    }))
    const answers = next?.role === 'user' && next.parts?.some(({ functionResponse }) => functionResponse !== undefined)
    if (answers) next.parts = [...(next.parts ?? []), ...parts]
    else contents.splice(i + 1, 0, { role: 'user', parts })
  }
}
