/** Hues that are easy to distinguish and similar in weight. Red and amber are left out, because they mark problems. */
const hues = [195, 265, 320, 145, 230, 295, 110, 345, 170, 248]

/** The hue of each agent of the session on the page. */
let assigned: ReadonlyMap<string, number> = new Map()

/** Assigns a hue to each agent, in order. If its own hue is taken, an agent gets the next free one. */
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
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const letters = words.length > 1 ? words.slice(0, 2).map((word) => word[0] ?? '') : [...(words[0] ?? '?')].slice(0, 2)
  return letters.join('').toUpperCase()
}
