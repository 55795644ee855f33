import type { AdkPart } from '../../../event/adk-event.ts'
import type { AgentSaid, RunEvent } from '../../../event/run-event.ts'
import { isPartial } from '../../../event/streaming.ts'
import { isObject } from '../../../json/json.ts'
import { printString } from '../../../json/print-string.ts'
import type { AgUiWriter } from './writer.ts'

/** A text message on the wire, and what was streamed of it since its last aggregate. */
interface StreamedText {
  readonly text: string
  said: string
}

interface Streaming {
  readonly message: string
  readonly node: string | undefined
  readonly author: string
  readonly branch: string | undefined
  readonly speech: StreamedText
  readonly head: string
  readonly tail: string
  /** How much of what was said the document contains. */
  documented: number
}

/**
 * The text that the last event printed, while nothing else comes. Nearly every event of a long answer is a token that
 * continues it, by the same speaker: such a token needs none of the objects that printing in general makes.
 */
export class StreamingText {
  readonly #writer: AgUiWriter
  #open: Streaming | undefined

  constructor(writer: AgUiWriter) {
    this.#writer = writer
  }

  /** This event was printed as a delta of an open text. */
  begin({ message, node, event }: AgentSaid, speech: StreamedText, tag: string | undefined): void {
    const { author, branch } = event
    const around = this.#writer.deltaText(speech.text, tag)
    this.#open = { message, node, author, branch, speech, ...around, documented: speech.said.length }
  }

  /** The printed delta of a token that continues the text; undefined for every other event. */
  token({ event, message, node, extra }: AgentSaid & RunEvent): string | undefined {
    const open = this.#open
    if (open === undefined || extra !== undefined || message !== open.message || node !== open.node) return undefined
    if (event.author !== open.author || event.branch !== open.branch || !isPartial(event)) return undefined
    const { errorCode, errorMessage, usageMetadata } = event
    if (errorCode !== undefined || errorMessage !== undefined || usageMetadata !== undefined) return undefined
    const delta = onlyText(event.content?.parts)
    if (delta === undefined) return undefined
    open.speech.said += delta
    return `${open.head}${printString(delta)}${open.tail}`
  }

  /** Something else than a token comes: it may change anything, so the next token is printed like any event. */
  interrupt(): void {
    if (this.#open === undefined) return
    this.document()
    this.#open = undefined
  }

  /** Brings the document up to date: tokens reach it only when it is needed. */
  document(): void {
    const open = this.#open
    if (open === undefined || open.speech.said.length === open.documented) return
    this.#writer.document.grow(open.speech.text, open.speech.said.slice(open.documented))
    open.documented = open.speech.said.length
  }
}

/** The text of an event that holds nothing else. */
function onlyText(parts: readonly AdkPart[] | undefined): string | undefined {
  if (!Array.isArray(parts) || parts.length !== 1) return undefined
  const part: unknown = parts[0]
  if (!isObject(part) || typeof part.text !== 'string' || part.text === '') return undefined
  for (const key in part) if (key !== 'text') return undefined
  return part.text
}
