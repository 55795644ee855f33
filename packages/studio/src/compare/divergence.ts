import type { Pairing } from './align.ts'

/** Where two conversations part: the first pair that differs, and its name. */
export interface Divergence {
  readonly key: string
  readonly name: string
}

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

/** The first difference in the order of the conversation: "burn_analyst's second message". */
export function firstDivergence(pairs: readonly Pairing[]): Divergence | undefined {
  const said = new Map<string, number>()
  for (const { key, left, right, kind } of pairs) {
    const message = left ?? right
    if (message === undefined) continue
    const author = message.role === 'user' ? 'user' : message.author
    const count = (said.get(author) ?? 0) + 1
    said.set(author, count)
    if (kind === 'same') continue
    const which = ordinals[count - 1] ?? `${count}th`
    const tool = message.parts.find((part) => part.kind === 'tool')
    const what = message.text.trim() === '' && tool?.kind === 'tool' ? `message, a call of ${tool.name}` : 'message'
    return { key, name: `${author === 'user' ? 'your' : `${author}’s`} ${which} ${what}` }
  }
  return undefined
}
