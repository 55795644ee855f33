import type { LlmRequest } from '@google/adk'

type Contents = LlmRequest['contents']

/**
 * A run that was cancelled, crashed or never answered leaves calls without a response, and every vendor refuses such a
 * history. The model is told that there was none. ADK strips call ids, so answers match by name and order.
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
        ...(id === undefined ? {} : { id }),
        ...named(name),
        response: { error: 'There was no answer.' },
      },
    }))
    const answers = next?.role === 'user' && next.parts?.some(({ functionResponse }) => functionResponse !== undefined)
    if (answers) next.parts = [...(next.parts ?? []), ...parts]
    else contents.splice(i + 1, 0, { role: 'user', parts })
  }
}

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name }
}
