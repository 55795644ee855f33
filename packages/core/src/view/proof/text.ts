import { readConfidences } from './confidence.ts'
import type { Basis, Confidence, Source, Where } from './fact.ts'
import { readLists } from './list.ts'

/** The evidence that a text states. Only what is written there: nothing is averaged, guessed or defaulted. */
export interface TextProof {
  /** The confidence of the whole text: the one called overall, or the only one that is not about a part of it. */
  readonly confidence?: Confidence
  readonly confidences: readonly Confidence[]
  readonly sources: readonly Source[]
  readonly regulatoryBasis: readonly Basis[]
}

const nothing: TextProof = { confidences: [], sources: [], regulatoryBasis: [] }

/**
 * Reads the written forms of evidence (docs/requirements.md, R4) in one pass over the lines. In the patterns of the readers
 * every repeat is bounded, and every search continues behind what it consumed: the cost is linear in the text, whatever
 * it contains.
 */
export function proofInText(text: string, where: Omit<Where, 'origin' | 'start' | 'end'>): TextProof {
  if (!/confiden|source|regulatory/i.test(text)) return nothing
  const from = (start: number, end: number): Where => ({ origin: 'parsed', ...where, start, end })
  const confidences = readConfidences(from)
  const sources = readLists('(?:data\\s)?sources?', from)
  const basis = readLists('regulatory\\sbasis', from)
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    const line = text.slice(start, end)
    confidences.read(line, start)
    sources.read(line, start)
    basis.read(line, start)
    start = end + 1
  }
  const confidence = confidences.overall()
  return {
    ...(confidence === undefined ? {} : { confidence }),
    confidences: confidences.found(),
    sources: sources.found,
    regulatoryBasis: basis.found.map(({ text, from }) => ({ text, from })),
  }
}
