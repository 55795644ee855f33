import type { Confidence, Where } from './fact.ts'

/** The longest list: a hostile text must not make a view large. The text itself stays in the log. */
const most = 100

/** `**Fire Severity:** …`, `- **Fire Severity**: …` */
const boldLabel = /^\s{0,8}(?:(?:[-+*•]|\d{1,3}[.)])\s{1,4})?\*\*([^*]{1,80}?)\s?(?::\*\*|\*\*\s?:)/
const heading = /^\s{0,3}#{1,6}\s{1,4}(.{1,120})/
const ownWords = /confidence|source|regulatory basis/i
const markup = /^[\s>|*_#+\-•\d.)]{0,24}$/

const label =
  /[*_]{0,3}(\boverall\s)?\bconfidence(?:\s(?:level|score|rating))?[*_]{0,3}\s?(?:([:=|])|\bof\b|\bis\b)?[*_]{0,3}\s{0,2}/gi
/** A number with a per cent sign, or a decimal from 0 to 1. A bare `90` is neither, so it is not read. */
const amount = /(?:about\s|[~≈]\s?)?(?:(\d{1,3}(?:\.\d{1,4})?)\s?(?:%|percent\b)|(0?\.\d{1,6}|1\.0{1,6})(?![\d%]))/iy
const level = /(low[- ]to[- ]moderate|moderate[- ]to[- ]high|(?:very\s)?(?:low|high)|medium|moderate)\b/iy
const afterLevel = /\s?[(,:–—-]\s?/y
const about = /\s(?:for|in|on)\s([^,;()%]{1,80}?)(?=\s?(?:[,;)]|\s(?:and|&)\s\d|$))/y
/** `91% (assess_salvage)`: what it is about where several follow each other, else a remark. */
const inParentheses = /\s?\(([^()%]{1,80})\)/y
const another = /\s?(?:[,;]\s?(?:(?:and|&)\s)?|\s(?:and|&)\s)/y
const remark = /\)?\s?[-–—]{1,2}\s(.{1,300})/y
/** `90% confident`, but not the statistician's `90% confidence interval`. */
const backwards =
  /(?<![\d.])(\d{1,3}(?:\.\d{1,4})?)\s?%\s(?:confident\b|confidence\b(?!\s(?:interval|level|band|bound|limit)))/gi

interface Found {
  readonly fact: Confidence
  /** It is about one section or thing, not about the whole text. */
  readonly partial: boolean
}

/** Reads the confidences of a text, line by line, each with its section. */
export function readConfidences(from: (start: number, end: number) => Where): {
  read(line: string, start: number): void
  found(): readonly Confidence[]
  /** The last one called overall, else the only one about the whole text. */
  overall(): Confidence | undefined
} {
  const found: Found[] = []
  let chapter: string | undefined
  let bold: string | undefined
  const take = (start: number, section: string | undefined, own: boolean): Take => {
    return (fact, begin, end) => {
      const at = from(start + begin, start + end)
      if (found.length >= most || found.some(({ fact: known }) => overlaps(known.from, at))) return
      const named = section === undefined || fact.overall ? {} : { section }
      const partial = fact.of !== undefined || (!own && section !== undefined)
      found.push({ fact: { ...fact, ...named, from: at }, partial })
    }
  }
  return {
    read(line, start) {
      const title = heading.exec(line)?.[1]
      if (title !== undefined) chapter = sectionName(title)
      if (title !== undefined || line.trim() === '') bold = undefined
      if (line.includes('**')) bold = sectionName(boldLabel.exec(line)?.[1]) ?? bold
      if (found.length >= most || !/confiden/i.test(line)) return
      label.lastIndex = 0
      for (let match = label.exec(line); match !== null && found.length < most; match = label.exec(line)) {
        const own = match.index < 25 && markup.test(line.slice(0, match.index))
        label.lastIndex = amounts(line, match, take(start, own ? chapter : (bold ?? chapter), own))
      }
      for (const match of line.matchAll(backwards)) {
        const value = Number(match[1]) / 100
        if (found.length >= most) return
        if (value <= 1) take(start, bold ?? chapter, false)({ value }, match.index, match.index + match[0].length)
      }
    },
    found: () => found.map(({ fact }) => fact),
    overall() {
      const called = found.findLast(({ fact }) => fact.overall)
      if (called !== undefined) return called.fact
      const whole = found.filter(({ partial }) => !partial)
      return whole.length === 1 ? whole[0]?.fact : undefined
    },
  }
}

type Take = (fact: Omit<Confidence, 'from'>, begin: number, end: number) => void

/** The amounts behind one label: `92%`, `High (90%) - why`, `95% for timber, 90% for trails`. Returns where to continue. */
function amounts(line: string, match: RegExpExecArray, take: Take): number {
  const overall = match[1] === undefined ? {} : ({ overall: true } as const)
  let from = match.index
  let at = from + match[0].length
  const word = matchAt(level, line, at)
  const named = word === undefined ? overall : { level: word[0], ...overall }
  if (word !== undefined) {
    at += word[0].length
    const between = matchAt(afterLevel, line, at)?.[0].length ?? 0
    if (readAmount(line, at + between) === undefined) {
      // A level alone counts only behind a label with a colon: "confidence is high" is prose.
      const note = matchAt(remark, line, at)
      if (match[2] !== undefined) take({ ...named, ...noteOf(note) }, from, at + (note?.[0].length ?? 0))
      return at
    }
    at += between
  }
  for (let several = false, read = readAmount(line, at); read !== undefined; read = readAmount(line, at)) {
    const of = matchAt(about, line, read.end) ?? listedSubject(line, read.end, several)
    const note =
      of === undefined ? (matchAt(inParentheses, line, read.end) ?? matchAt(remark, line, read.end)) : undefined
    at = read.end + (of?.[0].length ?? note?.[0].length ?? 0)
    const subject = of?.[1] === undefined ? {} : { of: of[1].trim().replace(/\.$/, '') }
    if (read.value <= 1) take({ value: read.value, ...named, ...subject, ...noteOf(note) }, from, at)
    const more = of === undefined ? undefined : matchAt(another, line, at)
    if (more === undefined) return at
    at += more[0].length
    from = at
    several = true
  }
  return at
}

/** The subject in parentheses behind one of several amounts. */
function listedSubject(line: string, at: number, several: boolean): RegExpExecArray | undefined {
  const match = matchAt(inParentheses, line, at)
  if (match === undefined || several) return match
  const end = at + match[0].length
  const more = matchAt(another, line, end)
  return more !== undefined && readAmount(line, end + more[0].length) !== undefined ? match : undefined
}

function readAmount(line: string, at: number): { value: number; end: number } | undefined {
  const match = matchAt(amount, line, at)
  if (match === undefined) return undefined
  // 57 / 100 is 0.57, while 57 * 0.01 is not.
  const value = match[1] === undefined ? Number(match[2]) : Number(match[1]) / 100
  return { value, end: at + match[0].length }
}

function noteOf(match: RegExpExecArray | undefined): { note?: string } {
  const note = match?.[1]?.replace(/[\s*_]{1,8}$/, '')
  return note === undefined || note === '' ? {} : { note }
}

function sectionName(title: string | undefined): string | undefined {
  if (title === undefined || ownWords.test(title)) return undefined
  const name = title.replaceAll('*', '').trim().replace(/:$/, '').trim()
  return name === '' ? undefined : name
}

function overlaps(a: Where, b: Where): boolean {
  return (a.start ?? 0) < (b.end ?? 0) && (b.start ?? 0) < (a.end ?? 0)
}

/** A match at exactly this place. */
function matchAt(pattern: RegExp, line: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at
  return pattern.exec(line) ?? undefined
}
