import { countedBeside, countedInTables, counting, unitName } from './counted.ts'

/** Something in a text that can be looked up in the log: a number, a date, a rule or a label. */
export interface ClaimFigure {
  readonly kind: 'number' | 'percent' | 'date' | 'rule' | 'label'
  /** As it is written. */
  readonly text: string
  readonly start: number
  readonly end: number
  /**
   * Equal for the same figure in another notation: `46,380` and `46380`, `15 September 2022` and `2022-09-15`. A date that
   * can be read in two ways has both: `2024-03-05 or 2024-05-03`.
   */
  readonly key: string
  /** Of a number or percentage. */
  readonly value?: number
  /** How far the written digits reach: 0.1 for `4.2`, 100,000 for `$1.4M`. */
  readonly step?: number
  /** What is counted: the word that follows, or else the word before it, or else the head of the column. */
  readonly of?: string
}

const months = 'January February March April May June July August September October November December'.split(' ')
const month = `(?:Sept|${months.map((name) => `${name.slice(0, 3)}(?:${name.slice(3)})?`).join('|')})\\.?`
const ordinal = '(?:st|nd|rd|th)?'
/** The zeros that a word or a letter stands for. */
const scales: Readonly<Record<string, number>> = {
  k: 3,
  K: 3,
  thousand: 3,
  M: 6,
  million: 6,
  B: 9,
  bn: 9,
  billion: 9,
}
/** Units that are written right behind a number, and by which a comma is known as a decimal one: `12,5 km`. */
const units = String.raw`(?:km²|km2|km|mi|ft|ha|cm|mm|m²|m2|m|kg|mg|lbs?|g|ms|(?<!\d{4})s|min|h|[KMGT]B|[kMG]Wh?|[CF])`
/** `1,234.5`; `1.234,5` and `1.234.567`; `1 234,5` with spaces that do not break; `1’234.5`; `12,5 %`; `1234.5`. */
const digits = [
  String.raw`\d{1,3}(?:,\d{3}){1,6}(?:\.\d{1,12})?(?!\d)`,
  String.raw`\d{1,3}(?:\.\d{3}){2,6}(?:,\d{1,12})?(?![.,]?\d)`,
  String.raw`\d{1,3}(?:\.\d{3}){1,6},\d{1,12}(?![.,]?\d)`,
  String.raw`\d{1,3}(?:[\u00a0\u202f\u2009]\d{3}){1,6}(?:[.,]\d{1,12})?(?!\d)`,
  String.raw`\d{1,3}(?:['’]\d{3}){1,6}(?:\.\d{1,12})?(?!\d)`,
  String.raw`(?<!\d,[-−]?)\d{1,18},\d{1,2}(?=\s?(?:[%€]|${units}(?!\w)))`,
  String.raw`\d{1,18}(?:\.\d{1,12})?`,
].join('|')

/**
 * One pass over the text, so that the time is linear in its length; every repetition is bounded. The order of the
 * alternatives matters: `36 CFR 220.6` is a rule and not two numbers.
 */
const pattern = new RegExp(
  [
    String.raw`(?<rule>\b\d{1,3}\s?(?:CFR|U\.?S\.?C\.?)\s?§{0,2}\s?\d{1,6}(?:\.\d{1,6})?[a-z]?(?:\([a-z0-9]{1,5}\)){0,6})`,
    String.raw`(?<iso>\b\d{4}(?:-\d{2}-\d{2}|/\d{2}/\d{2}))(?:\b|T\d{2}:[\d:.]{2,16}(?:Z|[+-]\d{2}:?\d{2})?)`,
    String.raw`(?<dmy>\b\d{1,2}${ordinal}\s(?:of\s)?${month},?\s\d{4}\b)`,
    String.raw`(?<mdy>\b${month}\s\d{1,2}${ordinal},?\s\d{4}\b)`,
    String.raw`(?<![\w./])(?<numeric>\d{1,2}(?<sign>[/.])\d{1,2}\k<sign>\d{4})(?![\w/]|\.\d)`,
    String.raw`(?<dm>\b\d{1,2}${ordinal}\s(?:of\s)?${month}(?![\w]))`,
    String.raw`(?<md>\b(?!May\s\d{1,2}\s[a-z])${month}\s\d{1,2}${ordinal}(?![\w%]|[.,:]\d|\s?[-–]\s?\d))`,
    String.raw`(?<![\w.:,])(?<time>\d{1,2}:\d{2})(?::\d{2})?(?:\s?(?<half>[ap])\.?m\b)?(?![\w:])`,
    String.raw`(?<label>\b[A-Z][A-Za-z]{0,15}-\d{1,9}(?:\.\d{1,9})?\b|#\d{1,9}(?:\.\d{1,9})?\b)`,
    String.raw`(?<money>[$€£]\s?)?(?<![\w.])(?<number>[-−]?(?:${digits}))(?:(?<percent>\s?%|\s(?:percent|per cent|pct)\b)|(?<letter>[kKMB]|bn)\b|\s(?<word>thousand|million|billion)\b|(?<unit>${units})(?!\w))?(?!\w)`,
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
    const { rule, iso, dmy, mdy, numeric, dm, md, time, half, label, number } = match.groups ?? {}
    if (rule !== undefined) found.push({ ...place, kind: 'rule', key: squeezed(rule) })
    else if (iso !== undefined) found.push({ ...place, kind: 'date', key: iso.replaceAll('/', '-') })
    else if (dmy !== undefined || mdy !== undefined)
      found.push({ ...place, kind: 'date', key: dateOf(dmy ?? mdy ?? '') })
    else if (numeric !== undefined) found.push({ ...place, ...numericDate(numeric) })
    else if (dm !== undefined || md !== undefined) found.push({ ...place, kind: 'date', key: dayOf(dm ?? md ?? '') })
    else if (time !== undefined) found.push({ ...place, kind: 'label', key: timeOf(time, half) })
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

/** What follows the first number of `5–10 %`. */
const percentRange = /^\s?[-–]\s?\d{1,9}(?:\.\d{1,9})?\s?%/

function numberOf(
  text: string,
  place: Pick<ClaimFigure, 'text' | 'start' | 'end'>,
  { number = '', money, percent, letter, word, unit }: Readonly<Record<string, string | undefined>>,
): ClaimFigure {
  const written = plainDigits(number)
  const zeros = scales[letter ?? word ?? (money !== undefined && unit === 'm' ? 'M' : '')] ?? 0
  // `1.1 * 1e6` is not the number that `1.1e6` is.
  const value = Number(`${written}e${zeros}`)
  const decimals = written.split('.')[1]?.length ?? 0
  const figure = { ...place, value, step: 10 ** (zeros - decimals) }
  const right = text.slice(place.end, place.end + 48)
  if (percent !== undefined || percentRange.test(right)) return { ...figure, kind: 'percent', key: `${value}%` }
  const of =
    unit === undefined ? countedBeside(text.slice(Math.max(0, place.start - 48), place.start), right) : unitName(unit)
  return { ...figure, kind: 'number', key: String(value), ...(of === undefined ? {} : { of }) }
}

/** The digits as JavaScript writes them, whatever sign separates thousands and decimals. */
function plainDigits(number: string): string {
  const bare = number.replace('−', '-').replace(/['’\u00a0\u202f\u2009]/g, '')
  if (/^-?\d{1,3}(?:,\d{3})+(?:\.|$)/.test(bare)) return bare.replaceAll(',', '')
  const isDotted = /\.\d{3}(?:[.,]|$)/.test(bare) && /,|\..*\./.test(bare)
  return (isDotted ? bare.replaceAll('.', '') : bare).replace(',', '.')
}

/** `2:05 pm` and `14:05` are the same. */
function timeOf(time: string, half: string | undefined): string {
  const [hours = '', minutes = ''] = time.split(':')
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  return `${hour}:${minutes}`
}

function dateOf(text: string): string {
  return `${/\d{4}$/.exec(text)?.[0]}${dayOf(text).slice(1)}`
}

const either = ' or '

/** `15/09/2022` and `9/15/2022` are one date; `03/05/2024` is of March or of May; `15.9.2022` always begins with the day. */
function numericDate(text: string): Pick<ClaimFigure, 'kind' | 'key'> {
  const [first = '', second = '', year = ''] = text.split(/[/.]/)
  const orders = text.includes('.')
    ? [[second, first] as const]
    : ([
        [first, second],
        [second, first],
      ] as const)
  const dates = orders
    .map(([month, day]) => `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`)
    .filter(isOnCalendar)
  return dates.length === 0 ? { kind: 'label', key: text } : { kind: 'date', key: [...new Set(dates)].join(either) }
}

const longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function isOnCalendar(date: string): boolean {
  const [year = 0, month = 0, day = 0] = date.split('-').map(Number)
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return day > 0 && day <= (month === 2 && !isLeap ? 28 : (longest[month - 1] ?? 0))
}

/** Whether two dates that are written differently may be the same. */
export function mayBeSameDate({ key }: ClaimFigure, other: ClaimFigure): boolean {
  if (key === other.key || !(key.includes(either) || other.key.includes(either))) return false
  const readings = key.split(either)
  return other.key.split(either).some((date) => readings.includes(date))
}

/** `--03-05`: a day of a year that the text does not name. */
function dayOf(text: string): string {
  const [, name = ''] = /([A-Z][a-z]{2})/.exec(text) ?? []
  const at = months.findIndex((each) => each.startsWith(name)) + 1
  return `--${String(at).padStart(2, '0')}-${String(/\d+/.exec(text)?.[0]).padStart(2, '0')}`
}

/** Whether the date is that day, in any year. */
export function isDay({ key }: ClaimFigure, day: ClaimFigure): boolean {
  if (!day.key.startsWith('--') || key === day.key) return false
  return key.split(either).some((date) => date.endsWith(day.key.slice(1)))
}

function squeezed(rule: string): string {
  return rule.replace(/[\s§.]/g, (sign) => (sign === '.' ? '.' : '')).toUpperCase()
}
