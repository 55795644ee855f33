/** Units by name, each with how many of the rule's own unit it is. */
type Units = readonly (readonly [name: string, size: number])[]

/** One hectare, in acres. */
export const hectare = 2.47105
/** One kilometre, in miles. */
export const kilometre = 0.6214

/** In acres, as the rule counts them. */
export const areas: Units = [
  ['acres?', 1],
  ['hectares?|ha', hectare],
]
/** In miles, as the rule counts them. */
export const lengths: Units = [
  ['miles?|mi', 1],
  ['kilomet(?:re|er)s?|km', kilometre],
  ['met(?:re|er)s?|m', kilometre / 1000],
  ['feet|foot|ft', 1 / 5280],
  ['yards?|yd', 1 / 1760],
]

const small = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

/**
 * The amount that a question gives: `2 miles`, `1,200 acres`, `half a mile`, `800 metres`. Several are added, because the
 * limits are those of the whole project.
 */
export function amountIn(text: string, units: Units): number | undefined {
  const amounts = units.flatMap(([name, size]) => numbersBefore(text, name).map((number) => number * size))
  return amounts.length === 0 ? undefined : rounded(amounts.reduce((sum, each) => sum + each, 0))
}

function numbersBefore(text: string, unit: string): readonly number[] {
  const words = `half an?|quarter of an?|an?|${small.join('|')}`
  const found = text.matchAll(new RegExp(`(\\d[\\d,]*(?:\\.\\d+)?|\\.\\d+|\\b(?:${words}))[\\s-]*(?:${unit})\\b`, 'gi'))
  return [...found].map(([, given = '']) => numberOf(given.toLowerCase()))
}

function numberOf(given: string): number {
  if (given.startsWith('half')) return 0.5
  if (given.startsWith('quarter')) return 0.25
  if (given === 'a' || given === 'an') return 1
  const at = small.indexOf(given)
  return at < 0 ? Number(given.replaceAll(',', '')) : at
}

/** Three places are enough to compare with a limit, and to be read. */
const rounded = (amount: number): number => Math.round(amount * 1000) / 1000
