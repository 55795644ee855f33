/** Words of an index, and of a query, are cut here: a longer one is a hash or a blob. */
const longestWord = 64
/** The bounds of a query. */
export const mostQueryText = 400
const mostQueryWords = 16
/** The shortest word that is found by its beginning. One letter would match too much of every log. */
const shortestPrefix = 2

/** Letters, digits and the marks that belong to them, in any script. */
const wordPattern = /[\p{L}\p{N}\p{M}]+/gu
/** Scripts that put no space between words. A run of such letters is indexed by its pairs. */
const byScript =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+|[^\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]+/gu
const isUnspaced = /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}]/u
/** Accents, and the vowel points of Hebrew and Arabic. The vowel signs of other scripts are no decoration and stay. */
const decoration = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g
const camelParts = /\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{N}+/gu

/** A piece of a text that is matched as a whole: a word, or a run of letters of a script without spaces. */
export interface FindPiece {
  /** Where it is in the text, in UTF-16 units. */
  readonly start: number
  readonly text: string
  readonly folded: string
  readonly unspaced: boolean
}

/** Lower case, without accents, in one form of Unicode: texts that differ only in these are the same to a search. */
export function foldedText(text: string): string {
  // Most text is plain, and normalising takes ten times as long as this test.
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase()
  return text.normalize('NFKD').replace(decoration, '').toLowerCase().normalize('NFKC')
}

export function* piecesIn(text: string): Generator<FindPiece> {
  for (const { 0: word, index } of text.matchAll(wordPattern)) {
    for (const { 0: own, index: inside } of word.matchAll(byScript))
      yield { start: index + inside, text: own, folded: foldedText(own), unspaced: isUnspaced.test(own) }
  }
}

/** The words by which a text is found, each once, at most `most` of them. */
export function indexWords(text: string, most: number): readonly string[] {
  const words = new Set<string>()
  for (const piece of piecesIn(text)) {
    for (const word of wordsOfPiece(piece)) words.add(word)
    if (words.size >= most) break
  }
  return [...words].slice(0, most)
}

function wordsOfPiece({ text, folded: word, unspaced }: FindPiece): readonly string[] {
  if (word === '') return []
  if (unspaced) return pairsOf(word)
  return [word, ...partsOfName(text)].map((each) => each.slice(0, longestWord))
}

/** `getWeather` is found by `weather` too. */
export function partsOfName(text: string): readonly string[] {
  if (!/\p{Ll}\p{Lu}/u.test(text)) return []
  return (text.match(camelParts) ?? []).filter((part) => part.length >= shortestPrefix).map(foldedText)
}

/** The pairs of letters, and the last letter alone, so that each letter is the beginning of a word. */
function pairsOf(run: string): readonly string[] {
  const letters = [...run]
  const pairs = letters.slice(1).map((letter, i) => `${letters[i]}${letter}`)
  return [...pairs, letters.at(-1) ?? '']
}

/** What a text must have to be found: all of the words, and a word that begins with `prefix`. */
export interface FindWords {
  readonly words: readonly string[]
  /** The last word of the query, which may not be typed to its end yet. */
  readonly prefix?: string
  /** The words as they were typed, folded; for the marks in a snippet. */
  readonly typed: readonly string[]
}

/** Undefined when the text has no word. */
export function queryWords(text: string): FindWords | undefined {
  const pieces = [...piecesIn(text.slice(0, mostQueryText))].filter((piece) => piece.folded !== '')
  const kept = pieces.slice(0, mostQueryWords)
  const last = kept.at(-1)
  if (last === undefined) return undefined
  const typed = [...new Set(kept.map(({ folded: word }) => word))]
  const whole = kept.slice(0, -1).flatMap(wholeWords)
  const prefix = prefixOf(last)
  const words = [...new Set(prefix === undefined ? [...whole, ...wholeWords(last)] : whole)]
  return prefix === undefined ? { words, typed } : { words, prefix, typed }
}

function wholeWords({ folded: word, unspaced }: FindPiece): readonly string[] {
  if (!unspaced) return [word.slice(0, longestWord)]
  const pairs = pairsOf(word)
  return pairs.length === 1 ? pairs : pairs.slice(0, -1)
}

function prefixOf({ folded: word, unspaced }: FindPiece): string | undefined {
  const letters = [...word].length
  if (unspaced) return letters === 1 ? word : undefined
  return letters < shortestPrefix ? undefined : word.slice(0, longestWord)
}

/** Whether words of an index match; `exact` when the last word is one of them as it is. */
export function matchWords(
  own: ReadonlySet<string>,
  { words, prefix }: FindWords,
): { readonly exact: boolean } | undefined {
  if (!words.every((word) => own.has(word))) return undefined
  if (prefix === undefined || own.has(prefix)) return { exact: true }
  for (const word of own) if (word.startsWith(prefix)) return { exact: false }
  return undefined
}
