import { heldText } from './held.ts'

const LF = 10

/** Of a block that is too long, this many characters are emitted. */
const emittedLength = 1024

/** Takes the block in `text` from `from` to `end`. It is not sliced out, because most readers need only parts of it. */
export type TakeBlock = (text: string, from: number, end: number, truncated: boolean) => void

export interface BlockReader {
  feed(text: string): void
  /** The lines of a block that has not ended yet, the last of them may be incomplete. */
  readonly rest: string
  /** The reader is inside a block that was too long. */
  readonly skipping: boolean
}

/**
 * Cuts SSE text into blocks: the lines of one frame and the blank line that ends it, with LF line ends. Neither the
 * result nor the bound depends on where the chunks were cut. Of a block longer than `limit` the beginning is emitted,
 * marked `truncated`; the rest of it is skipped and the reader goes on with the next block.
 */
export function blockReader(limit: number, emit: TakeBlock): BlockReader {
  const held = heldText()
  const emitBeginning = (block: string): void => emit(block, 0, Math.min(emittedLength, limit, block.length), true)
  let first = true
  let afterCr = false
  let lineStart = true
  let skipping = false

  /** Removes a BOM at the start and turns CR and CRLF into LF, even when CR and LF arrive in two chunks. */
  const normalised = (chunk: string): string => {
    let text = chunk
    if (first) {
      first = false
      if (text.startsWith('\uFEFF')) text = text.slice(1)
    } else if (afterCr && text.startsWith('\n')) text = text.slice(1)
    if (!text.includes('\r')) {
      afterCr = false
      return text
    }
    afterCr = text.endsWith('\r')
    return text.replace(/\r\n?/g, '\n')
  }
  const close = (text: string, from: number, end: number): void => {
    if (skipping) skipping = false
    else if (held.length > 0) {
      const block = held.take() + text.slice(from, end)
      closeAt(block, 0, block.length)
    } else closeAt(text, from, end)
  }
  const closeAt = (text: string, from: number, end: number): void => {
    if (end - from - 1 > limit) emitBeginning(text.slice(from, end))
    else emit(text, from, end, false)
  }
  const keep = (text: string): void => {
    if (skipping) return
    held.add(text)
    if (held.length <= limit) return
    emitBeginning(held.take())
    skipping = true
  }
  return {
    feed(chunk) {
      if (chunk === '') return
      const text = normalised(chunk)
      if (text === '') return
      let from = 0
      const inBlock = (): boolean => held.length > 0 || skipping
      if (lineStart && inBlock() && text.charCodeAt(0) === LF) {
        close(text, 0, 1)
        from = 1
      }
      for (;;) {
        if (!inBlock()) while (text.charCodeAt(from) === LF) from++
        const end = text.indexOf('\n\n', from)
        if (end === -1) break
        close(text, from, end + 2)
        from = end + 2
      }
      if (from < text.length) keep(from === 0 ? text : text.slice(from))
      lineStart = text.charCodeAt(text.length - 1) === LF
    },
    get skipping() {
      return skipping
    },
    get rest() {
      const text = held.take()
      if (text !== '') held.add(text)
      return text
    },
  }
}
