import type { Snippet } from './event-log.ts'
import { type FindPiece, type FindWords, foldedText, partsOfName, piecesIn } from './find-words.ts'

/** Characters of a snippet, and of what comes before its first match. */
const width = 160
const before = 40

/** The text around the first match, with the marks of all matches in it. */
export function snippetOf(whole: string, query: FindWords): Snippet {
  const text = whole.replace(/\s+/g, ' ').trim()
  const marks: (readonly [number, number])[] = []
  let [from, to] = [0, text.length]
  for (const piece of piecesIn(text)) {
    if (marks.length > 0 && piece.start >= to) break
    const mark = markIn(piece, query)
    if (mark === undefined) continue
    if (marks.length === 0) [from, to] = windowAt(text, mark[0])
    if (mark[1] <= to) marks.push(mark)
  }
  if (marks.length === 0) [from, to] = windowAt(text, 0)
  const [start, end] = [from > 0 ? '…' : '', to < text.length ? '…' : '']
  const moved = start.length - from
  return {
    text: `${start}${text.slice(from, to)}${end}`,
    marks: marks.map(([first, last]) => [first + moved, last + moved] as const),
  }
}

/** From a space or a letter near the match on; never from within a surrogate pair. */
function windowAt(text: string, match: number): [number, number] {
  const wanted = Math.max(0, match - before)
  const space = wanted === 0 ? -1 : text.indexOf(' ', wanted)
  const from = wanted === 0 ? 0 : space >= 0 && space < match ? space + 1 : whole(text, wanted)
  return [from, whole(text, Math.min(text.length, from + width))]
}

function whole(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at
}

function markIn(piece: FindPiece, { typed, prefix }: FindWords): readonly [number, number] | undefined {
  for (const word of typed) {
    const found = placeIn(piece, word, word === prefix)
    if (found !== undefined) return found
  }
  return undefined
}

function placeIn(piece: FindPiece, word: string, isPrefix: boolean): readonly [number, number] | undefined {
  const { start, text, folded: own, unspaced } = piece
  if (unspaced) {
    const at = own.indexOf(word)
    return at < 0 ? undefined : span(piece, at, word.length)
  }
  if (isPrefix ? own.startsWith(word) : own === word) return span(piece, 0, word.length)
  const part = partsOfName(text).find((each) => (isPrefix ? each.startsWith(word) : each === word))
  if (part === undefined) return undefined
  const at = foldedText(text).indexOf(part)
  return at < 0 ? [start, start + text.length] : span(piece, at, word.length)
}

/** The place in the text, where folding kept the lengths; else the whole piece. */
function span({ start, text, folded: own }: FindPiece, at: number, length: number): readonly [number, number] {
  return own.length === text.length ? [start + at, start + at + length] : [start, start + text.length]
}
