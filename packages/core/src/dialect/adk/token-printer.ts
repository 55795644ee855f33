import type { AdkEvent } from '../../event/adk-event.ts'
import type { Frame } from '../../frame/frame.ts'
import { printString } from '../../json/print-string.ts'
import { seconds } from './wire.ts'

/** The fields of such an event, in the order in which decoders make them. */
const eventFields = ['id', 'author', 'invocationId', 'timestamp', 'content', 'partial'] as const
const contentFields = ['role', 'parts'] as const
const partFields = ['text'] as const

/**
 * Prints partials that hold nothing but one text, as our decoders make them of tokens. Nearly every event is one, and
 * to copy it and print it as an object takes three times as long.
 */
export class TokenPrinter {
  /** The text between the id and the text of a token, which the tokens of a message share. */
  #between = { author: '', invocationId: '', role: '', timestamp: Number.NaN, text: '' }

  /** What `printEvent` prints; undefined for an event that is not such a partial. */
  print(event: AdkEvent, at: number): Frame | undefined {
    const { id, author, invocationId, content } = event
    const part = content?.parts?.[0]
    if (event.partial !== true || typeof part?.text !== 'string' || content?.parts?.length !== 1) return undefined
    const role: unknown = content.role
    if (typeof id !== 'string' || typeof author !== 'string' || typeof role !== 'string') return undefined
    if (typeof invocationId !== 'string' || invocationId === '' || !Number.isFinite(event.timestamp)) return undefined
    if (!hasFields(event, eventFields) || !hasFields(content, contentFields) || !hasFields(part, partFields))
      return undefined
    const timestamp = event.timestamp === 0 ? at : event.timestamp
    let between = this.#between
    if (
      between.timestamp !== timestamp ||
      between.author !== author ||
      between.invocationId !== invocationId ||
      between.role !== role
    ) {
      const names = `,"author":${JSON.stringify(author)},"invocationId":${JSON.stringify(invocationId)}`
      const said = `"content":{"role":${JSON.stringify(role)},"parts":[{"text":`
      const text = `${names},"timestamp":${seconds(timestamp)},${said}`
      between = { author, invocationId, role, timestamp, text }
      this.#between = between
    }
    return { data: `{"id":${printString(id)}${between.text}${printString(part.text)}}]},"partial":true}` }
  }
}

/** Whether a value has exactly these fields, in this order. */
function hasFields(value: object, names: readonly string[]): boolean {
  let at = 0
  for (const key in value) if (key !== names[at++]) return false
  return at === names.length
}
