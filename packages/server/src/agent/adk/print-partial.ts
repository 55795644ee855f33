import type { LlmResponse } from '@google/adk'
import type { AgentSaid } from '@millrace/core'

/**
 * Prints the partials of a run as `JSON.stringify` does. Everything except the id, the time and the text is the same from one
 * partial of a message to the next, and is printed only once.
 */
export class PartialPrinter {
  #like: AgentSaid | undefined
  #head = ''
  #actions = ''
  #tail = ''

  /** Undefined for a partial with more than text: it has to be checked, and is printed like any other event. */
  print(said: AgentSaid, answer: LlmResponse): string | undefined {
    const { event, message, node } = said
    if (!hasOnlyWords(answer)) return undefined
    if (this.#like === undefined || !isAlike(this.#like, said)) {
      const { invocationId, author, branch, actions } = event
      this.#like = said
      this.#head = `{"kind":"agent","event":${JSON.stringify({ invocationId, author, branch }).slice(0, -1)},"id":"`
      this.#actions = `","actions":${JSON.stringify(actions)},"longRunningToolIds":[],"timestamp":`
      this.#tail = `,${JSON.stringify({ message, node }).slice(1)}`
    }
    return `${this.#head}${event.id}${this.#actions}${event.timestamp},${JSON.stringify(answer).slice(1)}${this.#tail}`
  }
}

function isAlike(one: AgentSaid, { event, message, node }: AgentSaid): boolean {
  return (
    one.message === message &&
    one.node === node &&
    one.event.author === event.author &&
    one.event.branch === event.branch &&
    one.event.actions === event.actions
  )
}

function hasOnlyWords(answer: LlmResponse): boolean {
  for (const key in answer) if (key !== 'content' && key !== 'partial') return false
  const { content } = answer
  for (const key in content) if (key !== 'parts' && !(key === 'role' && typeof content.role === 'string')) return false
  return content?.parts?.every(isWords) === true
}

function isWords(part: object): boolean {
  for (const key in part) {
    const value: unknown = Reflect.get(part, key)
    if (!(key === 'text' && typeof value === 'string') && !(key === 'thought' && typeof value === 'boolean'))
      return false
  }
  return true
}
