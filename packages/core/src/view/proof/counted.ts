import type { ClaimFigure } from './figure.ts'

/** `acres` and `acre` count the same thing. */
export function singular(word: string): string {
  const small = word.toLowerCase()
  return small.length > 3 && small.endsWith('s') && !small.endsWith('ss') ? small.slice(0, -1) : small
}

/** One name for each unit. A number of one of them is no number of another. */
const units = new Map(
  [
    'acre ac',
    'hectare ha',
    'kilometer kilometre km',
    'meter metre m',
    'centimeter centimetre cm',
    'millimeter millimetre mm',
    'mile mi',
    'foot feet ft',
    'kilogram kg',
    'gram g',
    'pound lb lbs',
    'ton tonne',
    'millisecond ms msec',
    'second sec s',
    'minute min mins',
    'hour hr hrs h',
    'day',
    'week',
    'month',
    'year yr yrs',
    'dollar usd $',
    'euro eur €',
    'sterling gbp £',
    'percent pct %',
    'celsius c',
    'fahrenheit f',
  ].flatMap((names) => names.split(' ').map((name) => [name, names.split(' ')[0] ?? name] as const)),
)

/** The name of a unit that is written in letters: `km` is `kilometer`. Any other word is what it is in singular. */
export function unitName(word: string): string {
  const one = singular(word)
  return units.get(word.toLowerCase()) ?? units.get(one) ?? one
}

/** Letters that are units only behind a number: as a word or a part of a name they say nothing. */
const isBare = (word: string): boolean => word.length === 1

/** Words that count nothing: in `5 of 6 plots` both numbers count plots, in `6 of them severe` the 6 is of what is severe. */
const joining = '(?:of|to|and|or|out|the|them|these|those|their|its|is|are|was|were|in|on|at|by|for|from|with)'
/** Only on the same line: the next item of a list counts something of its own. */
const space = String.raw`[^\S\n]`
const after = new RegExp(
  `^(?:${space}${joining}\\b|${space}\\d[\\d,.]{0,12}|${space}?[-–]${space}?\\d[\\d,.]{0,12})*(?:${space}|-)?(?!${joining}\\b)(?:([a-z]{2,30})|°([CF])\\b)`,
  'i',
)
/** `score of 4`, `- **Bridges:** 3`, `"bridges": 3`. */
const before = new RegExp(
  `(?<![a-z])(?!${joining}\\b)([a-z]{2,30})(?:${space}${joining}){0,3}["*_\`]{0,3}[:=]?["*_\`]{0,3}${space}?$`,
  'i',
)

/** What a number counts: the next word after it that can be counted, or else the word before it. */
export function countedBeside(left: string, right: string): string | undefined {
  const [, word, degrees] = after.exec(right) ?? []
  if (degrees !== undefined) return unitName(degrees)
  const counted = word ?? before.exec(left)?.[1]
  return counted === undefined ? undefined : unitName(counted)
}

/** Names of fields that say nothing of what they count: there the tool's name does. */
const counts = new Set(['count', 'total', 'number', 'amount', 'size', 'length'])

/** The words of a field and, where that is only a count, of the tool: `severe_points`, `rainyDaysPerWeek`. */
export function countedWords(path: string, name: string): readonly string[] {
  const words = wordsIn(path)
  return counts.has(words.at(-1) ?? '') ? [...words, ...wordsIn(name)] : words
}

/** Before `min`, these make it minutes: in `min_acres` and `temp_min` it is the least of several. */
const spans = new Set('duration time elapsed travel drive walk wait delay runtime uptime'.split(' '))

/** What is measured in degrees, also where a field does not say in which: `temp`, and `temp_c`. */
const temperatures = new Set(['temp', 'temps', 'temperature', 'temperatures'])

export const isTemperature = (words: readonly string[]): boolean => words.some((word) => temperatures.has(word))

const wordsIn = (text: string): readonly string[] =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[^a-zA-Z]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())
    .map((word, at, words) => {
      const before = words[at - 1] ?? ''
      if (word === 'min' && !spans.has(before)) return word
      return isBare(word) && !(temperatures.has(before) && /[cf]/.test(word)) ? word : unitName(word)
    })

/** What is measured in a field: `distance_km` is in kilometers. */
export function unitOfField(path: string): string | undefined {
  return wordsIn(path.slice(path.lastIndexOf('.') + 1)).find((word) => isUnit(word))
}

export function isUnit(name: string): boolean {
  return units.get(name) === name
}

/** What the numbers of a table's column count: the last word of its head that is not in brackets. */
export function countedBy(head: string): string | undefined {
  const [, word] = /([a-z]{2,30})[^a-z]*$/i.exec(head.replace(/\([^()]*\)/g, '').slice(-80)) ?? []
  return word === undefined ? undefined : unitName(word)
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
