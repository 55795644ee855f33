/** Hues that are easy to distinguish and similar in weight. Red and amber are left out, because they mark problems. */
const hues = [195, 265, 320, 145, 230, 295, 110, 345, 170, 248]

/** The hue and the initials of each agent of the session on the page. */
let assigned: ReadonlyMap<string, number> = new Map()
let named: ReadonlyMap<string, string> = new Map()

/**
 * Assigns a hue and initials to each agent, in order. If its own are taken, an agent gets the next free ones, so that two
 * agents of a session never look the same.
 */
export function assignColours(agents: readonly string[]): void {
  const taken = new Set<number>()
  const next = new Map<string, number>()
  for (const agent of agents) {
    const wanted = hues.indexOf(hueOf(agent))
    const free = hues.map((_, i) => hues[(wanted + i) % hues.length] ?? 195).find((hue) => !taken.has(hue))
    const hue = free ?? hueOf(agent)
    taken.add(hue)
    next.set(agent, hue)
  }
  assigned = next
  named = distinctInitials(agents)
}

/** The hue of an agent depends on its name, so that it is the same in every panel, session and reload. */
function hueOf(name: string): number {
  if (name === 'user') return 235
  let hash = 0
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0
  return hues[hash % hues.length] ?? 195
}

const agentHue = (name: string): number => assigned.get(name) ?? hueOf(name)

export function agentColour(name: string): string {
  const hue = agentHue(name)
  return `light-dark(oklch(0.5 0.1 ${hue}), oklch(0.77 0.095 ${hue}))`
}

export function agentTint(name: string): string {
  const hue = agentHue(name)
  return `light-dark(oklch(0.955 0.022 ${hue}), oklch(0.29 0.035 ${hue}))`
}

/** Two letters for an avatar: `burn_analyst` becomes BA. */
export function initials(name: string): string {
  return named.get(name) ?? candidates(name)[0] ?? '?'
}

/** Initials for each name, no two the same where the letters of the names allow it. */
export function distinctInitials(names: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  const made = new Map<string, string>()
  for (const name of names) {
    const wanted = candidates(name)
    const free = wanted.find((letters) => !taken.has(letters)) ?? wanted[0] ?? '?'
    taken.add(free)
    made.set(name, free)
  }
  return made
}

/** Two letters of a name, best first: of its first two words, else its first letter with each later one. */
function candidates(name: string): readonly string[] {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const [first = '?', ...later] = [...words.join('')]
  const starts = words.length > 1 ? words.slice(1).map((word) => first + (word[0] ?? '')) : []
  const pairs = [...starts, ...later.map((letter) => first + letter), first]
  return [...new Set(pairs.map((pair) => pair.toUpperCase()))]
}
