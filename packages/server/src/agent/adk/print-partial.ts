import type { LlmResponse } from '@google/adk'
import type { AgentSaid, PartialForm } from '@millrace/core'
import { PrintedPartial } from '../printed-partial.ts'
import { newEventId } from './json-event.ts'
import type { Speaker } from './scope.ts'

/** A message whose partials follow each other. */
interface Going extends Speaker {
  readonly message: string
  readonly form: PartialForm
  /** Whether a text has come that is not empty: the first one changes which event ends the message. */
  readonly hasText: boolean
}

/**
 * Prints the partials of a run as JSON. Everything except the time, the id and the words is the same from one partial of a
 * message to the next, and is printed, sent and stored once. So these three are next to each other.
 */
export class PartialPrinter {
  #going: Going | undefined

  /**
   * A partial that continues the message of the one before. Undefined for the first partial of a message, for one of
   * another agent, and for one with more than words: they become events, and are checked.
   */
  next(answer: LlmResponse, { author, branch, node }: Speaker): PrintedPartial | undefined {
    const going = this.#going
    if (going === undefined || going.node !== node || going.author !== author || going.branch !== branch)
      return undefined
    if (!hasOnlyWords(answer) || (!going.hasText && hasText(answer))) return undefined
    // ADK uses the same clock for its events.
    const own = ownText(Date.now(), newEventId(), answer)
    return PrintedPartial.formed(going.form, own, going.message, node)
  }

  /** The first partial of a message, or the first after other events. Undefined for one with more than words. */
  first(said: AgentSaid, answer: LlmResponse, speaker: Speaker): PrintedPartial | undefined {
    this.#going = undefined
    if (!hasOnlyWords(answer)) return undefined
    const { event, message, node } = said
    const { invocationId, author, branch, actions } = event
    const shared = { invocationId, author, branch, actions, longRunningToolIds: [] }
    const form: PartialForm = {
      head: `{"kind":"agent","event":${JSON.stringify(shared).slice(0, -1)},"timestamp":`,
      tail: `},${JSON.stringify({ message, node }).slice(1)}`,
    }
    this.#going = { ...speaker, message, form, hasText: hasText(answer) }
    return PrintedPartial.formed(form, ownText(event.timestamp, event.id, answer), message, node)
  }

  /** Another event has come: what follows may be another message. */
  interrupt(): void {
    this.#going = undefined
  }
}

function ownText(timestamp: number, id: string, answer: LlmResponse): string {
  return `${timestamp},"id":"${id}",${JSON.stringify(answer).slice(1, -1)}`
}

function hasText({ content }: LlmResponse): boolean {
  return content?.parts?.some(({ text }) => text !== '') === true
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
