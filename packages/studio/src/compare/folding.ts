import type { Pairing } from './align.ts'

/** A stretch of a comparison: pairs that are shown, or identical pairs that are folded. */
export interface PairGroup {
  readonly key: string
  readonly pairs: readonly Pairing[]
  readonly folded: boolean
}

/** How many identical pairs stay visible next to a difference, and how many in a row are shown without folding. */
const beside = 2
const few = 12

/** Folds long stretches of identical pairs, except next to a difference; without any difference, all but the first pairs. */
export function foldPairs(pairs: readonly Pairing[]): readonly PairGroup[] {
  const made: PairGroup[] = []
  const add = (own: readonly Pairing[], folded: boolean): void => {
    const last = made.at(-1)
    if (own[0] === undefined) return
    if (last !== undefined && !last.folded && !folded) {
      made[made.length - 1] = { ...last, pairs: [...last.pairs, ...own] }
    } else made.push({ key: own[0].key, pairs: own, folded })
  }
  let from = 0
  while (from < pairs.length) {
    let to = from
    while (to < pairs.length && pairs[to]?.kind === 'same') to += 1
    const same = pairs.slice(from, to)
    if (same.length > few) {
      const head = from === 0 && to < pairs.length ? 0 : beside
      const tail = to === pairs.length ? 0 : beside
      add(same.slice(0, head), false)
      add(same.slice(head, same.length - tail), true)
      add(same.slice(same.length - tail), false)
    } else add(same, false)
    from = to
    while (to < pairs.length && pairs[to]?.kind !== 'same') to += 1
    add(pairs.slice(from, to), false)
    from = to
  }
  return made
}
