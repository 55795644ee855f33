import type { ClaimFigure } from './figure.ts'

/** `acres` and `acre` count the same thing. */
export function singular(word: string): string {
  const small = word.toLowerCase()
  return small.length > 3 && small.endsWith('s') && !small.endsWith('ss') ? small.slice(0, -1) : small
}

/** Words that count nothing: in `5 of 6 plots` both numbers count plots, in `6 of them severe` the 6 is of what is severe. */
const joining = '(?:of|to|and|or|out|the|them|these|those|their|its|is|are|was|were|in|on|at|by|for|from|with)'
const after = new RegExp(
  `^(?:\\s${joining}\\b|\\s\\d[\\d,.]{0,12})*[\\s-]?(?!${joining}\\b)(?:([a-z]{2,30})|°([CF])\\b)`,
  'i',
)
const before = new RegExp(`\\b(?!${joining}\\b)([a-z]{2,30})\\s$`, 'i')

/** What a number counts: the next word after it that can be counted, or else the word before it. */
export function countedBeside(left: string, right: string): string | undefined {
  const [, word, degrees] = after.exec(right) ?? []
  if (degrees !== undefined) return singular(degrees.toUpperCase() === 'C' ? 'celsius' : 'fahrenheit')
  const counted = word ?? before.exec(left)?.[1]
  return counted === undefined ? undefined : singular(counted)
}

/** Names of fields that say nothing of what they count: there the tool's name does. */
const counts = new Set(['count', 'total', 'number', 'amount', 'size', 'length'])

/** The words of a field and, where that is only a count, of the tool: `severe_points`, `rainyDaysPerWeek`. */
export function countedWords(path: string, name: string): readonly string[] {
  const words = wordsIn(path)
  return counts.has(words.at(-1) ?? '') ? [...words, ...wordsIn(name)] : words
}

const wordsIn = (text: string): readonly string[] =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[^a-zA-Z]+/)
    .filter((word) => word !== '')
    .map(singular)

/** What the numbers of a table's column count: the last word of its head that is not in brackets. */
export function countedBy(head: string): string | undefined {
  const [, word] = /([a-z]{2,30})[^a-z]*$/i.exec(head.replace(/\([^()]*\)/g, '').slice(-80)) ?? []
  return word === undefined ? undefined : singular(word)
}

/** The figure with what it counts, unless a word beside it says so already. */
export function counting(figure: ClaimFigure, of: string | undefined): ClaimFigure {
  return figure.kind !== 'number' || figure.of !== undefined || of === undefined ? figure : { ...figure, of }
}

/** The line between the head and the rows of a markdown table: `| --- | :-: |`. */
const isRuler = (line: string): boolean => line.includes('|') && line.includes('-') && /^[\s|:-]*$/.test(line)

/**
 * A number in a markdown table has no words beside it: it counts what the head of its column says. Lines, cells and
 * figures are in order, so that each is looked at once.
 */
export function countedInTables(text: string, figures: readonly ClaimFigure[]): readonly ClaimFigure[] {
  if (!text.includes('|')) return figures
  const found: ClaimFigure[] = []
  let heads: readonly (string | undefined)[] | undefined
  let above = ''
  let start = 0
  for (const line of text.split('\n')) {
    const end = start + line.length
    if (!line.includes('|')) heads = undefined
    else if (heads === undefined && isRuler(line))
      heads = above
        .replace(/^\s*\|/, '')
        .split('|')
        .map(countedBy)
    let cell = /^\s*\|/.test(line) ? -1 : 0
    let at = start
    for (
      let figure = figures[found.length];
      figure !== undefined && figure.start < end;
      figure = figures[found.length]
    ) {
      for (; at < figure.start; at++) if (text[at] === '|') cell += 1
      found.push(counting(figure, heads?.[cell]))
    }
    above = line
    start = end + 1
  }
  return found
}
