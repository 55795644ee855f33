/** Hues far enough apart to tell, near enough in weight that no agent shouts; red and amber are kept for trouble. */
const hues = [195, 265, 320, 145, 230, 295, 110, 345, 170, 248]

/** The agents of the session on the page, in the order in which they first spoke, and the hue of each. */
let cast: ReadonlyMap<string, number> = new Map()

/** Where two agents of one session would get the same hue, the later one gets the next that is free. */
export function castColours(agents: readonly string[]): void {
  const taken = new Set<number>()
  const next = new Map<string, number>()
  for (const agent of agents) {
    const wanted = hues.indexOf(hueOf(agent))
    const free = hues.map((_, i) => hues[(wanted + i) % hues.length] ?? 195).find((hue) => !taken.has(hue))
    const hue = free ?? hueOf(agent)
    taken.add(hue)
    next.set(agent, hue)
  }
  cast = next
}

/** An agent's colour follows its name, so that it is the same in every panel, session and reload. */
function hueOf(name: string): number {
  if (name === 'user') return 235
  let hash = 0
  for (const character of name) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0
  return hues[hash % hues.length] ?? 195
}

const agentHue = (name: string): number => cast.get(name) ?? hueOf(name)

export function agentColour(name: string): string {
  const hue = agentHue(name)
  return `light-dark(oklch(0.5 0.1 ${hue}), oklch(0.77 0.095 ${hue}))`
}

export function agentTint(name: string): string {
  const hue = agentHue(name)
  return `light-dark(oklch(0.955 0.022 ${hue}), oklch(0.29 0.035 ${hue}))`
}

/** Two letters for an avatar: burn_analyst is BA. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '')
  const letters = words.length > 1 ? words.slice(0, 2).map((word) => word[0] ?? '') : [...(words[0] ?? '?')].slice(0, 2)
  return letters.join('').toUpperCase()
}
