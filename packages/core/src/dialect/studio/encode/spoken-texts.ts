import { beginsWith } from '../../../json/begins-with.ts'
import type { TextPiece } from '../../bare-text/text-turns.ts'

/** A message that is not over, and how much of it was printed. */
export interface SpokenText {
  readonly piece: TextPiece
  text: string
  printed: number
}

/**
 * A text of this length is printed at every piece. A longer one is printed when it has grown by a part of its length, so
 * that printing a message again and again costs no more than about 65 times its length, however many pieces it has.
 */
const short = 64

/** The texts of the messages that are not over, for a wire on which a chunk is the text of a message so far. */
export class SpokenTexts {
  readonly #open = new Map<string, SpokenText>()
  /** What a reader has of each speaker, and whether the speaker did something after it. */
  readonly #heard = new Map<string, { text: string; acted: boolean }>()
  #last: string | undefined

  /** Adds a piece. Returns the message where it is due to be printed. */
  add(piece: TextPiece): SpokenText | undefined {
    const known = this.#open.get(piece.message) ?? this.#begin(piece)
    known.text += piece.text
    // Half a character would be printed as another one.
    return !endsInHalf(piece.text) && known.text.length - known.printed >= known.text.length / short ? known : undefined
  }

  #begin(piece: TextPiece): SpokenText {
    const begun = { piece, text: '', printed: 0 }
    this.#open.set(piece.message, begun)
    return begun
  }

  /** The message is over. Returns it where its end is not printed yet. */
  end(message: string): SpokenText | undefined {
    const known = this.#open.get(message)
    this.#open.delete(message)
    return known === undefined || known.printed === known.text.length ? undefined : known
  }

  /** Every message that is not over ends. */
  endAll(): readonly SpokenText[] {
    return [...this.#open.keys()].flatMap((message) => this.end(message) ?? [])
  }

  drop(messages: readonly string[]): void {
    for (const message of messages) this.#open.delete(message)
  }

  /** The speaker called a tool or got a result. */
  acted(speaker: string): void {
    const heard = this.#heard.get(speaker)
    if (heard !== undefined) heard.acted = true
  }

  /**
   * Notes that the message is printed now. Returns whether a reader would take it for a part of what the speaker said
   * before, so that a mark must come first.
   */
  print(spoken: SpokenText, speaker: string): boolean {
    const { text } = spoken
    const heard = this.#heard.get(speaker)
    const first = spoken.printed === 0
    const goesOn = this.#last === speaker && heard?.acted === false
    spoken.printed = text.length
    this.#last = speaker
    if (heard === undefined) {
      this.#heard.set(speaker, { text, acted: false })
      return false
    }
    const heardText = heard.text
    heard.text = text
    heard.acted = false
    if (!first) return false
    return goesOn || beginsWith(text, heardText) || heardText.endsWith(text)
  }
}

/** Whether the text ends with the first half of a surrogate pair. */
function endsInHalf(text: string): boolean {
  const code = text.charCodeAt(text.length - 1)
  return code >= 0xd800 && code <= 0xdbff
}
