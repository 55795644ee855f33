/** Text kept until the rest of it arrives. */
export interface HeldText {
  readonly length: number
  add(text: string): void
  /** Everything added since the last take, as one string. */
  take(): string
}

/** Pieces are joined whenever this many characters have gathered, so that a peer that sends byte by byte costs few objects. */
const joinAt = 64 * 1024

export function heldText(): HeldText {
  let whole: string[] = []
  let pieces: string[] = []
  let fresh = 0
  let length = 0
  return {
    get length() {
      return length
    },
    add(text) {
      pieces.push(text)
      fresh += text.length
      length += text.length
      if (fresh < joinAt) return
      whole.push(pieces.join(''))
      pieces = []
      fresh = 0
    },
    take() {
      const text = [...whole, ...pieces].join('')
      whole = []
      pieces = []
      fresh = 0
      length = 0
      return text
    },
  }
}
