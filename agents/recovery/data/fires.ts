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

/** The fire that a text is about: its id, or the name of one without data. A text that names none is about the only one. */
export function fireIn(text: string): { readonly fire: Fire } | { readonly other: string } {
  const [, id] = /\bfire_id:\s*([\w-]+)/.exec(text) ?? []
  if (id !== undefined) {
    const fire = fireById(id)
    return fire === undefined ? { other: id } : { fire }
  }
  const other = namesIn(text).find((name) => !fires.some((fire) => isName(name, fire)))
  return other === undefined ? { fire: onlyFire } : { other }
}

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
  return [...before, ...after].filter((name) => name !== '' && !noFire.test(name) && !isPlace(name))
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
