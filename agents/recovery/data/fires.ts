import { burnSectors } from './burn-sectors.ts'
import { trailDamage } from './trail-damage.ts'

/** The fires that this example has data for. */
export interface Fire {
  readonly id: string
  readonly name: string
  readonly year: number
  readonly forest: string
}

export const fires: readonly [Fire, ...Fire[]] = [
  { id: 'cedar-creek-2022', name: 'Cedar Creek', year: 2022, forest: 'Willamette National Forest, Oregon' },
]

const [onlyFire] = fires
export const knownFires = fires.map(({ name }) => name).join(', ')

export const fireById = (id: string): Fire | undefined => fires.find((fire) => fire.id === id)

/** The answer of every tool to a fire without data: no figures, and what there is instead. */
export function noData(fire: string): { error: string } {
  return {
    error: `I have data for ${knownFires} only (${fires.map(({ id }) => id).join(', ')}), and none for ${fire}. I give no figures for it.`,
  }
}

/** What a conversation is about: a fire with data, or one without (of another name or year), and the answer to it. */
export type Subject =
  | { readonly fire: Fire }
  | { readonly other: string; readonly because: 'name' | 'year'; readonly refusal: string }

/** The fire that a text is about. A text that names none is about the only one. */
export const fireIn = (text: string): Subject => lastFireIn([text]) ?? { fire: onlyFire }

/** The fire that a conversation talked about last, or undefined where its texts, oldest first, name none. */
export const lastFireIn = (texts: readonly string[]): Subject | undefined =>
  texts.reduce<Subject | undefined>((last, text) => subjectOf(text, last), undefined)

function subjectOf(text: string, last: Subject | undefined): Subject | undefined {
  const [, id] = /\bfire_id:\s*([\w-]+)/.exec(text) ?? []
  if (id !== undefined) {
    const fire = fireById(id)
    return fire === undefined ? otherFire(id) : { fire }
  }
  const other = namesIn(text).find((name) => !fires.some((fire) => isName(name, fire)))
  if (other !== undefined) return otherFire(other)
  const years = yearsIn(text)
  const isNamed = new RegExp(`\\b${onlyFire.name}\\b`, 'i').test(text)
  // A year alone is one of the fire that was talked about, and that may be one without data.
  if (!isNamed && (years.length === 0 || isOtherFire(last))) return last
  const otherYear = years.find((year) => year !== onlyFire.year)
  return otherYear === undefined ? { fire: onlyFire } : sameNameIn(otherYear)
}

const otherFire = (other: string): Subject => ({
  other,
  because: 'name',
  refusal: `I have data for ${knownFires} only. I have none for ${other}, so I give no figures for it. Ask me about the ${knownFires} Fire.`,
})

export const dated = ({ name, year }: Pick<Fire, 'name' | 'year'>): string => `the ${name} Fire of ${year}`

const sameNameIn = (year: number): Subject => ({
  other: dated({ ...onlyFire, year }),
  because: 'year',
  refusal: `I have data for ${dated(onlyFire)} only. I have none for ${year}, so I give no figures for it. Ask me about ${dated(onlyFire)}.`,
})

const isOtherFire = (subject: Subject | undefined): boolean =>
  subject !== undefined && 'other' in subject && subject.because === 'name'

/** The years that a text gives: “1994”, “’94”. A number with a unit, a sign or a decimal point is an amount. */
function yearsIn(text: string): readonly number[] {
  const unit =
    'acres?|hectares?|ha|miles?|mi|kilomet(?:re|er)s?|km|met(?:re|er)s?|m|feet|foot|ft|yards?|yd|mbf|dollars?|usd|trees?|plots?'
  const full = text.matchAll(
    new RegExp(`(?<![\\w#$€£.,])((?:18|19|20)\\d\\d)(?!\\w|[.,]\\d|%|[\\s-]*(?:${unit})\\b)`, 'gi'),
  )
  const short = text.matchAll(/(?<!\w)['’](\d\d)\b/g)
  return [...[...full].map(([, year]) => Number(year)), ...[...short].map(([, year]) => yearThatEnds(Number(year)))]
}

/** “’94” is 1994 and “’22” is 2022. */
const yearThatEnds = (digits: number): number => (digits < 50 ? 2000 : 1900) + digits

const isName = (name: string, fire: Fire): boolean =>
  name
    .toLowerCase()
    .replace(/\b\d{4}\b/g, '')
    .trim() === fire.name.toLowerCase()

/** Words before “fire” that are no name. */
const plain =
  /^(?:a|after|all|an|and|any|at|about|between|both|briefing|by|compare|each|every|for|forest|from|how|in|is|it|last|me|my|no|of|on|or|our|post|recovery|severe|than|that|the|these|this|those|two|versus|vs|was|were|what|which|wild|with|your)$/i

/** Further words name no fire; the time to look for names grows with the square of the length. */
const longestQuestion = 2000

/** The fires that a text names: “the Bootleg Fire”, “the Camp burn”, “a briefing for Bootleg”. */
function namesIn(question: string): readonly string[] {
  const text = question.slice(0, longestQuestion)
  const before = [...text.matchAll(/((?:[\w'’-]+\s+){1,4})(?:fires?|burn|complex)\b/gi)].map(([, words = '']) => {
    const list = words.trim().split(/\s+/)
    return list.slice(list.findLastIndex((word) => plain.test(word)) + 1).join(' ')
  })
  const after = [
    ...text.matchAll(
      /\b(?:for|of|at|in|about|was|were|and|or|than|versus|vs|between|[Ii]s|[Cc]ompare)\s+(?:the\s+)?((?:[A-Z][\w'’-]+\s?)+)/g,
    ),
  ].map(([, words = '']) => words.replace(/\s*\b(?:Fires?|Burn|Complex)\b.*$/, '').trim())
  return [...before, ...after].filter((name) => /[a-z]/i.test(name) && !noFire.test(name) && !isPlace(name))
}

const places = [
  ...Object.values(burnSectors).flatMap((sectors) => sectors.map(({ name }) => name)),
  ...Object.values(trailDamage).flatMap((points) => points.map(({ trail }) => trail)),
].map((place) => place.toLowerCase())

/** A place inside a fire that there is data for: “the trails at Waldo Lake”. */
const isPlace = (name: string): boolean =>
  places.some((place) => place.startsWith(`${name.toLowerCase()} `) && name.includes(' '))

/** Capitalised words of this trade that are not the name of a fire. */
const noFire =
  /^(?:Trails?|Timber|Salvage|Severity|Soils?|Roads?|Bridges?|NEPA|BAER|CFR|FSM|USDA|MTBS|TP-\d+|TD-\d+|[A-Z]+-\d+|Oregon|Willamette.*|I|Post-?|Wild)$/i
