import { heldText } from './held.ts'
import { maxFrameSize } from './sse.ts'

/** One line of a file of JSON values. */
export interface Line {
  /** As an editor counts: from 1, blank lines included. */
  readonly number: number
  readonly text: string
  /** The line was longer than the reader's bound: `text` is only its beginning. */
  readonly truncated?: true
}

export interface LineReader {
  feed(text: string): readonly Line[]
  /** The file is over: the last line, if no newline ended it. */
  end(): readonly Line[]
}

/** How many characters of a line that is too long are returned. */
const shown = 1024

/**
 * Newline-delimited JSON, for files: lines with their numbers, so that an error can name one (SPEC 2.10). Blank lines are
 * counted and skipped; a CR before the LF is white space to JSON; a BOM at the start is removed. Of a line longer than
 * `maxSize` only the beginning is returned, marked `truncated`.
 */
export function ndjsonReader(maxSize: number = maxFrameSize): LineReader {
  const held = heldText()
  let first = true
  let number = 0
  let skipping = false

  const cut = (text: string): Line => ({
    number: number + 1,
    text: text.slice(0, Math.min(shown, maxSize)),
    truncated: true,
  })
  const close = (end: string, lines: Line[]): void => {
    const text = held.length === 0 ? end : held.take() + end
    if (!skipping && text.length > maxSize) lines.push(cut(text))
    else if (!skipping && /\S/.test(text)) lines.push({ number: number + 1, text })
    skipping = false
    number += 1
  }
  return {
    feed(chunk) {
      const lines: Line[] = []
      const text = first && chunk.startsWith('\uFEFF') ? chunk.slice(1) : chunk
      first &&= chunk === ''
      let from = 0
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
        close(text.slice(from, end), lines)
        from = end + 1
      }
      if (skipping || from === text.length) return lines
      held.add(text.slice(from))
      if (held.length > maxSize) {
        lines.push(cut(held.take()))
        skipping = true
      }
      return lines
    },
    end() {
      const lines: Line[] = []
      if (held.length > 0) close('', lines)
      return lines
    },
  }
}

/** One value as a line. JSON text has no raw newline, so a value never takes two lines. */
export function printLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}
