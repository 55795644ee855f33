import type { Evidence } from './evidence.ts'
import type { ClaimFigure } from './figure.ts'
import type { Support } from './support.ts'

/** Figures that stand together, such as those of a sentence. */
export type Passage = readonly ClaimFigure[]

/** A longer passage is a list or a table of many things, whose figures say nothing of each other. */
const longest = 100

/**
 * The order of equal places of a figure. What a tool returned mostly gives several figures of a passage, so the place in
 * the result that holds most of the figures beside this one comes first: `90%` may be in the results of four tools.
 */
export class Closest {
  readonly #placesOf: (figure: ClaimFigure, before: number) => readonly Support[]
  /** How many figures of a passage a piece of evidence holds. A passage is counted once for all its figures. */
  readonly #counts = new WeakMap<Passage, ReadonlyMap<Evidence, number>>()

  constructor(placesOf: (figure: ClaimFigure, before: number) => readonly Support[]) {
    this.#placesOf = placesOf
  }

  /** `passages`: the narrowest first. `rankOf` is what counts more than the figures beside. */
  order(
    places: readonly Support[],
    passages: readonly Passage[],
    before: number,
    rankOf: (place: Support) => number,
  ): readonly Support[] {
    if (places.length < 2) return places
    const counts = passages.map((passage) => this.#count(passage, before))
    return places.toSorted((a, b) => {
      const rank = rankOf(a) - rankOf(b)
      if (rank !== 0) return rank
      for (const count of counts) {
        const more = (count.get(b.evidence) ?? 0) - (count.get(a.evidence) ?? 0)
        if (more !== 0) return more
      }
      return 0
    })
  }

  #count(passage: Passage, before: number): ReadonlyMap<Evidence, number> {
    const known = this.#counts.get(passage)
    if (known !== undefined) return known
    const count = new Map<Evidence, number>()
    const figures = new Map(passage.slice(0, longest).map((figure) => [`${figure.key} ${figure.of}`, figure]))
    for (const figure of figures.values())
      for (const evidence of new Set(this.#placesOf(figure, before).map((place) => place.evidence)))
        count.set(evidence, (count.get(evidence) ?? 0) + 1)
    this.#counts.set(passage, count)
    return count
  }
}
