import { countedBeside, countedInTables, counting } from './counted.ts'

/** Something in a text that can be looked up in the log: a number, a date, a rule or a label. */
export interface ClaimFigure {
  readonly kind: 'number' | 'percent' | 'date' | 'rule' | 'label'
  /** As it is written. */
  readonly text: string
  readonly start: number
  readonly end: number
  /** Equal for the same figure in another notation: `46,380` and `46380`, `15 September 2022` and `2022-09-15`. */
  readonly key: string
  /** Of a number or percentage. */
  readonly value?: number
  /** How far the written digits reach: 0.1 for `4.2`, 100,000 for `$1.4M`. */
  readonly step?: number
  /** What is counted: the word that follows, or else the word before it, or else the head of the column. */
  readonly of?: string
}

const months = 'January February March April May June July August September October November December'.split(' ')
const month = `(?:${months.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|')})\\.?`
const scales: Readonly<Record<string, number>> = {
  k: 1e3,
  K: 1e3,
  thousand: 1e3,
  M: 1e6,
  million: 1e6,
  B: 1e9,
  bn: 1e9,
  billion: 1e9,
}

/**
 * One pass over the text, so that the time is linear in its length; every repetition is bounded. The order of the
 * alternatives matters: `36 CFR 220.6` is a rule and not two numbers.
 */
const pattern = new RegExp(
  [
    String.raw`(?<rule>\b\d{1,3}\s?(?:CFR|U\.?S\.?C\.?)\s?§{0,2}\s?\d{1,6}(?:\.\d{1,6})?[a-z]?(?:\([a-z0-9]{1,5}\)){0,6})`,
    String.raw`(?<iso>\b\d{4}-\d{2}-\d{2}\b)`,
    String.raw`(?<dmy>\b\d{1,2}\s${month}\s\d{4}\b)`,
    String.raw`(?<mdy>\b${month}\s\d{1,2},?\s\d{4}\b)`,
    String.raw`(?<label>\b[A-Z][A-Za-z]{0,15}-\d{1,9}(?:\.\d{1,9})?\b|#\d{1,9}(?:\.\d{1,9})?\b)`,
    String.raw`(?<money>[$€£]\s?)?(?<![\w.])(?<number>[-−]?\d{1,3}(?:,\d{3}){1,6}(?:\.\d{1,12})?|[-−]?\d{1,18}(?:\.\d{1,12})?)(?:(?<percent>\s?%|\s(?:percent|per cent)\b)|(?<letter>[kKMB]|bn)\b|\s(?<word>thousand|million|billion)\b)?(?!\w)`,
  ].join('|'),
  'g',
)

/** All figures of a text, in order. `of` is what its numbers count where the text does not say it. */
export function figuresIn(text: string, of?: string): readonly ClaimFigure[] {
  const found: ClaimFigure[] = []
  for (const match of text.matchAll(pattern)) {
    const [written] = match
    const start = match.index
    const place = { text: written, start, end: start + written.length }
    const { rule, iso, dmy, mdy, label, number } = match.groups ?? {}
    if (rule !== undefined) found.push({ ...place, kind: 'rule', key: squeezed(rule) })
    else if (iso !== undefined) found.push({ ...place, kind: 'date', key: iso })
    else if (dmy !== undefined || mdy !== undefined)
      found.push({ ...place, kind: 'date', key: dateOf(dmy ?? mdy ?? '') })
    else if (label !== undefined) found.push({ ...place, kind: 'label', key: label.toUpperCase() })
    else if (number !== undefined && !isMarker(text, place) && !isIdentifier(text, place, match.groups ?? {}))
      found.push(numberOf(text, place, match.groups ?? {}))
  }
  return of === undefined ? countedInTables(text, found) : found.map((figure) => counting(figure, of))
}

/** The number of a list item or a heading in markdown: `2. Close the trail`. */
function isMarker(text: string, { start, end }: Pick<ClaimFigure, 'start' | 'end'>): boolean {
  return (
    /^[.)]\s/.test(text.slice(end, end + 2)) &&
    /(?:^|\n)[\s>#*-]{0,12}$/.test(text.slice(Math.max(0, start - 13), start))
  )
}

/**
 * The number that tells one of several things from the others: `Rename task 1`. It counts nothing, so only a whole number
 * without a unit is one, after a singular name and before the end of a phrase or a word that joins: in `task 3 files`
 * and `version 2 of 5` it may be a count.
 */
function isIdentifier(
  text: string,
  { start, end }: Pick<ClaimFigure, 'start' | 'end'>,
  { number = '', money, percent, letter, word }: Readonly<Record<string, string | undefined>>,
): boolean {
  if (!/^\d{1,3}$/.test(number) || (money ?? percent ?? letter ?? word) !== undefined) return false
  return (
    /\b(?:task|step|option|version)\s$/i.test(text.slice(Math.max(0, start - 9), start)) &&
    /^(?:$|\n|[.,;:!?)"'”](?!\d)|\s(?:and|or|is|was|to|as|has)\b)/.test(text.slice(end, end + 6))
  )
}

function numberOf(
  text: string,
  place: Pick<ClaimFigure, 'text' | 'start' | 'end'>,
  { number = '', percent, letter, word }: Readonly<Record<string, string | undefined>>,
): ClaimFigure {
  const digits = number.replaceAll(',', '').replace('−', '-')
  const times = scales[letter ?? word ?? ''] ?? 1
  const value = Number(digits) * times
  const decimals = digits.split('.')[1]?.length ?? 0
  const figure = { ...place, value, step: times / 10 ** decimals }
  if (percent !== undefined) return { ...figure, kind: 'percent', key: `${value}%` }
  const of = countedBeside(
    text.slice(Math.max(0, place.start - 32), place.start),
    text.slice(place.end, place.end + 48),
  )
  return { ...figure, kind: 'number', key: String(value), ...(of === undefined ? {} : { of }) }
}

function dateOf(text: string): string {
  const [, name = ''] = /([A-Z][a-z]{2})/.exec(text) ?? []
  const at = months.findIndex((each) => each.startsWith(name)) + 1
  const numbers = text.match(/\d+/g) ?? []
  return `${numbers[1]}-${String(at).padStart(2, '0')}-${String(numbers[0]).padStart(2, '0')}`
}

function squeezed(rule: string): string {
  return rule.replace(/[\s§.]/g, (sign) => (sign === '.' ? '.' : '')).toUpperCase()
}
