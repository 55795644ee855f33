/** A stretch of a text: in both texts, or only in this one. */
export interface WordRun {
  readonly text: string
  readonly own: boolean
}

/** Longer texts are compared paragraph by paragraph, because the comparison takes the product of their lengths. */
const mostWords = 2000

/** The words that only one of two texts has, for each of them. */
export function wordDifference(a: string, b: string): readonly [readonly WordRun[], readonly WordRun[]] {
  const small = wordsOf(a).length <= mostWords && wordsOf(b).length <= mostWords
  const split = small
    ? wordsOf
    : (text: string): string[] => text.match(/[^\n]*\n?/g)?.filter((line) => line !== '') ?? []
  const [left, right] = [split(a), split(b)]
  const common = commonWords(left, right)
  return [runsOf(left, common.left), runsOf(right, common.right)]
}

/** Each word with the space after it, so that the words put together are the text. */
const wordsOf = (text: string): string[] => text.match(/\S+\s*|\s+/g) ?? []

function commonWords(
  a: readonly string[],
  b: readonly string[],
): { left: ReadonlySet<number>; right: ReadonlySet<number> } {
  const [x, y] = [a.map((word) => word.trim()), b.map((word) => word.trim())]
  const lengths = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1))
  for (let i = x.length - 1; i >= 0; i--) {
    const [row, below] = [lengths[i], lengths[i + 1]]
    if (row === undefined) continue
    for (let j = y.length - 1; j >= 0; j--) {
      row[j] = x[i] === y[j] ? (below?.[j + 1] ?? 0) + 1 : Math.max(below?.[j] ?? 0, row[j + 1] ?? 0)
    }
  }
  const [left, right] = [new Set<number>(), new Set<number>()]
  let [i, j] = [0, 0]
  while (i < x.length && j < y.length) {
    if (x[i] === y[j]) {
      left.add(i++)
      right.add(j++)
    } else if ((lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0)) i++
    else j++
  }
  return { left, right }
}

function runsOf(words: readonly string[], common: ReadonlySet<number>): readonly WordRun[] {
  const runs: { text: string; own: boolean }[] = []
  for (const [i, text] of words.entries()) {
    const own = !common.has(i)
    const last = runs.at(-1)
    if (last?.own === own) last.text += text
    else runs.push({ text, own })
  }
  return runs
}
