import { type ClaimFigure, figuresIn } from './figure.ts'

/** One sentence of an answer, with what can be looked up in it. Places are those in the text. */
export interface Claim {
  readonly start: number
  readonly end: number
  readonly figures: readonly ClaimFigure[]
  /** Names of two words or more: `Waldo Lake Trail`. */
  readonly names: readonly string[]
}

/** A full stop ends a sentence where a space and something other than a small letter follow. */
const sentenceEnd = /[.!?]["')\]]{0,3}\s+(?![a-z])|\n+/g
const properName = /\b[A-Z][a-zA-Z'’]{1,30}(?:\s(?:of|the|de|and)\s[A-Z][a-zA-Z'’]{1,30}|\s[A-Z][a-zA-Z'’]{1,30}){1,5}/g

/** The number of a source in square brackets: `[2]`, `[^1]`, `[1, 3]`. It names a source and claims nothing. */
function isReference(text: string, { text: written, start, end }: ClaimFigure): boolean {
  return (
    /^\d{1,3}$/.test(written) &&
    /\[\^?(?:\d{1,3}\s?[,;–-]\s?){0,9}$/.test(text.slice(Math.max(0, start - 50), start)) &&
    /^(?:\s?[,;–-]\s?\d{1,3}){0,9}\]/.test(text.slice(end, end + 50))
  )
}

/**
 * The sentences of a paragraph. Text without a figure or a name is a claim too, with nothing to look up. `of` is what
 * numbers count where the text does not say it: the head of a table's column.
 */
export function claimsIn(text: string, of?: string): readonly Claim[] {
  const claims: Claim[] = []
  const figures = figuresIn(text, of).filter((figure) => !isReference(text, figure))
  let start = 0
  /** The first figure that belongs to no claim yet: figures and sentences are both in order, so each is looked at once. */
  let next = 0
  const close = (end: number): void => {
    let after = next
    while ((figures[after]?.end ?? Number.POSITIVE_INFINITY) <= end) after += 1
    const sentence = text.slice(start, end)
    if (sentence.trim() !== '')
      claims.push({ start, end, figures: figures.slice(next, after), names: sentence.match(properName) ?? [] })
    start = end
    next = after
  }
  let around = 0
  for (const match of text.matchAll(sentenceEnd)) {
    const end = match.index + match[0].length
    while ((figures[around]?.end ?? Number.POSITIVE_INFINITY) <= match.index + 1) around += 1
    // The stop inside a figure ends no sentence.
    if ((figures[around]?.start ?? end) >= end) close(end)
  }
  close(text.length)
  return claims
}
